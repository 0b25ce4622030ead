{# There is no MERGE: see incremental.sql. #}

{% macro scurry__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set names = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set all_columns = adapter.get_columns_in_relation(target) -%}
  {%- set current = config.get('dbt_valid_to_current') -%}
  {%- set overwrites = adapter.can_overwrite(target) -%}
  {%- set rows = source if overwrites else scurry__kept_rows(source) -%}
  {%- set ends -%}
    ({{ names.dbt_valid_to }} is null{% if current %} or {{ names.dbt_valid_to }} = {{ current }}{% endif %})
  {%- endset -%}
  {%- set updates -%}
    select {{ names.dbt_scd_id }} as dbt_ended, max({{ names.dbt_valid_to }}) as dbt_end
    from {{ rows }} where dbt_change_type in ('update', 'delete') group by {{ names.dbt_scd_id }}
  {%- endset -%}
  {%- set insertions -%}
    select {% for column in all_columns %}
      {{- column.quoted if column.quoted in insert_cols else 'cast(null as ' ~ column.data_type ~ ')' }}{{ ', ' if not loop.last }}
    {%- endfor %}
    from {{ rows }} where dbt_change_type = 'insert'
  {%- endset -%}
  {%- if overwrites -%}
insert overwrite {{ target.render() }}
select {% for column in all_columns %}
    {%- if column.name | lower == names.dbt_valid_to | lower -%}
  case when dbt_ended is not null and {{ ends }} then dbt_end else {{ names.dbt_valid_to }} end as {{ column.quoted }}
    {%- else -%}
  {{ column.quoted }}
    {%- endif %}{{ ', ' if not loop.last }}
{%- endfor %}
from {{ target.render() }} left join ({{ updates }}) as dbt_updates on dbt_ended = {{ names.dbt_scd_id }}
union all
{{ insertions }}
  {%- else -%}
update {{ target.render() }}
set {{ names.dbt_valid_to }} = (select dbt_end from ({{ updates }}) as dbt_updates where dbt_ended = {{ names.dbt_scd_id }})
where {{ ends }} and {{ names.dbt_scd_id }} in (select dbt_ended from ({{ updates }}) as dbt_updates);
insert into {{ target.render() }}
{{ insertions }};
drop table {{ rows }}
  {%- endif -%}
{%- endmacro %}

{# dbt's own cuts times to texts in another way. #}
{% macro scurry__snapshot_hash_arguments(args) -%}
  md5({%- for arg in args -%}
    coalesce(cast({{ arg }} as string), '')
    {%- if not loop.last %} || '|' || {% endif -%}
  {%- endfor -%})
{%- endmacro %}

{% macro scurry__snapshot_string_as_time(timestamp) -%}
  {{ return("to_timestamp('" ~ timestamp ~ "', 'yyyy-MM-dd HH:mm:ss.SSSSSS')") }}
{%- endmacro %}
