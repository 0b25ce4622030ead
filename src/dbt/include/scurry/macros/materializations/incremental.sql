{# Strategies of incremental models. There is no MERGE: where one statement replaces all rows of a table, as with
   files, the rows that stay and those of the query are written anew in one step; else matching rows are deleted, and
   then those of the query inserted. #}

{% macro scurry__get_incremental_default_sql(arg_dict) -%}
  {%- if arg_dict['unique_key'] -%}
    {{ return(get_incremental_merge_sql(arg_dict)) }}
  {%- endif -%}
  {{ return(get_incremental_append_sql(arg_dict)) }}
{%- endmacro %}

{% macro scurry__keys_of(unique_key) -%}
  {{ return([] if not unique_key else [unique_key] if unique_key is string else unique_key) }}
{%- endmacro %}

{% macro scurry__match(keys, one, other) -%}
  {%- for key in keys -%}
    {{ one }}.{{ key }} is not distinct from {{ other }}.{{ key }}{{ ' and ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}

{% macro scurry__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates=none) -%}
  {%- set keys = scurry__keys_of(unique_key) -%}
  {%- set predicates = incremental_predicates or [] -%}
  {%- set names = get_quoted_csv(dest_columns | map(attribute='name')) -%}
  {%- if not keys -%}
insert into {{ target }} ({{ names }}) select {{ names }} from {{ source }}
  {%- elif adapter.is_upserted(target) -%}
    {%- if config.get('merge_update_columns') or config.get('merge_exclude_columns') or predicates -%}
      {%- do exceptions.raise_compiler_error('merge_update_columns, merge_exclude_columns and incremental_predicates are for tables of files: rows of ' ~ target ~ ' replace those with their primary key') -%}
    {%- endif -%}
insert into {{ target }} ({{ names }}) select {{ names }} from {{ source }}
  {%- elif adapter.can_overwrite(target) -%}
    {%- set updated = get_merge_update_columns(config.get('merge_update_columns'), config.get('merge_exclude_columns'), dest_columns) -%}
    {%- set all_columns = adapter.get_columns_in_relation(target) -%}
    {%- set given = dest_columns | map(attribute='name') | list -%}
    {%- set taken = [] -%}
    {%- for column in updated -%}{%- do taken.append(column.strip('`')) -%}{%- endfor -%}
    {%- set partial = (given | reject('in', taken) | list | length) > 0 or (all_columns | length) > (given | length) or predicates -%}
insert overwrite {{ target }}
select {% for column in all_columns %}DBT_INTERNAL_DEST.{{ column.quoted }}{{ ', ' if not loop.last }}{% endfor %}
from {{ target }} as DBT_INTERNAL_DEST
where not exists (
  select 1 from {{ source }} as DBT_INTERNAL_SOURCE
  where {{ scurry__match(keys, 'DBT_INTERNAL_SOURCE', 'DBT_INTERNAL_DEST') }}
  {%- for predicate in predicates %} and ({{ predicate }}){% endfor %}
)
union all
    {%- if partial %}
select {% for column in all_columns %}
  {%- if column.name not in given -%}
    case when DBT_INTERNAL_DEST.dbt_found then DBT_INTERNAL_DEST.{{ column.quoted }} else cast(null as {{ column.data_type }}) end
  {%- elif column.name in taken -%}
    DBT_INTERNAL_SOURCE.{{ column.quoted }}
  {%- else -%}
    case when DBT_INTERNAL_DEST.dbt_found then DBT_INTERNAL_DEST.{{ column.quoted }} else DBT_INTERNAL_SOURCE.{{ column.quoted }} end
  {%- endif %} as {{ column.quoted }}{{ ', ' if not loop.last }}
{%- endfor %}
from {{ source }} as DBT_INTERNAL_SOURCE
left join (select *, true as dbt_found from {{ target }}) as DBT_INTERNAL_DEST
on {{ scurry__match(keys, 'DBT_INTERNAL_SOURCE', 'DBT_INTERNAL_DEST') }}
    {%- for predicate in predicates %} and ({{ predicate }}){% endfor %}
    {%- else %}
select {% for column in all_columns %}{{ column.quoted }}{{ ', ' if not loop.last }}{% endfor %} from {{ source }}
    {%- endif %}
  {%- else -%}
    {{ get_delete_insert_merge_sql(target, source, unique_key, dest_columns, predicates) }}
  {%- endif -%}
{%- endmacro %}

{% macro scurry__get_delete_insert_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) -%}
  {%- set keys = scurry__keys_of(unique_key) -%}
  {%- set names = get_quoted_csv(dest_columns | map(attribute='name')) -%}
  {%- set all_columns = adapter.get_columns_in_relation(target) -%}
  {%- set given = dest_columns | map(attribute='name') | list -%}
  {%- if not keys -%}
insert into {{ target }} ({{ names }}) select {{ names }} from {{ source }}
  {%- elif adapter.can_overwrite(target) -%}
insert overwrite {{ target }}
select {% for column in all_columns %}DBT_INTERNAL_DEST.{{ column.quoted }}{{ ', ' if not loop.last }}{% endfor %}
from {{ target }} as DBT_INTERNAL_DEST
where not (exists (
  select 1 from {{ source }} as DBT_INTERNAL_SOURCE
  where {{ scurry__match(keys, 'DBT_INTERNAL_SOURCE', 'DBT_INTERNAL_DEST') }}
)
  {%- for predicate in incremental_predicates or [] %} and coalesce(({{ predicate }}), false){% endfor -%}
)
union all
select {% for column in all_columns %}
  {{- column.quoted if column.name in given else 'cast(null as ' ~ column.data_type ~ ')' }}{{ ', ' if not loop.last }}
{%- endfor %} from {{ source }}
  {%- else -%}
    {%- set kept = scurry__kept_rows(source) -%}
delete from {{ target }}
where {{ keys[0] if keys | length == 1 else '(' ~ keys | join(', ') ~ ')' }} in (select {{ keys | join(', ') }} from {{ kept }})
    {%- for predicate in incremental_predicates or [] %} and ({{ predicate }}){% endfor %};
insert into {{ target }} ({{ names }}) select {{ names }} from {{ kept }};
drop table {{ kept }}
  {%- endif -%}
{%- endmacro %}

{# Several statements follow, the first of which changes a table that the query may read: its rows are computed before. #}
{% macro scurry__kept_rows(source) -%}
  {%- set kept = source.incorporate(path={'identifier': source.identifier ~ '_rows'}, type='table') -%}
  {%- set options = config.get('staging_options') or adapter.staging_options() -%}
  {%- call statement('kept_rows') -%}
drop table if exists {{ kept }};
create table {{ kept }} (
    {%- for column in adapter.get_columns_in_relation(source) %}
  {{ column.quoted }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
){{ scurry__with_options(options) }};
insert into {{ kept }} select * from {{ source }}
  {%- endcall -%}
  {{ return(kept) }}
{%- endmacro %}

{# INSERT OVERWRITE: all rows of a table without partitions, else those of the partitions that get rows. #}
{% macro scurry__get_insert_overwrite_merge_sql(target, source, dest_columns, predicates, include_sql_header) -%}
  {%- set names = get_quoted_csv(dest_columns | map(attribute='name')) -%}
insert overwrite {{ target }} ({{ names }}) select {{ names }} from {{ source }}
{%- endmacro %}

{# Rows of the batch's period are replaced. #}
{% macro scurry__get_incremental_microbatch_sql(arg_dict) -%}
  {%- set target = arg_dict['target_relation'] -%}
  {%- set source = arg_dict['temp_relation'] -%}
  {%- set names = get_quoted_csv(arg_dict['dest_columns'] | map(attribute='name')) -%}
  {%- set time = config.get('event_time') -%}
  {%- set of_batch = [] -%}
  {%- if model.batch and model.batch.event_time_start -%}
    {%- do of_batch.append(time ~ " >= timestamp '" ~ model.batch.event_time_start.strftime('%Y-%m-%d %H:%M:%S') ~ "'") -%}
  {%- endif -%}
  {%- if model.batch and model.batch.event_time_end -%}
    {%- do of_batch.append(time ~ " < timestamp '" ~ model.batch.event_time_end.strftime('%Y-%m-%d %H:%M:%S') ~ "'") -%}
  {%- endif -%}
  {%- set sql -%}
    {%- if adapter.can_overwrite(target) -%}
insert overwrite {{ target }} ({{ names }})
select {{ names }} from {{ target }} where ({{ of_batch | join(' and ') }}) is not true
union all
select {{ names }} from {{ source }}
    {%- else -%}
      {%- set kept = scurry__kept_rows(source) -%}
delete from {{ target }} where {{ of_batch | join(' and ') }};
insert into {{ target }} ({{ names }}) select {{ names }} from {{ kept }};
drop table {{ kept }}
    {%- endif -%}
  {%- endset -%}
  {{ return(sql) }}
{%- endmacro %}
