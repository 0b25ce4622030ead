{# Definitions: databases, tables and views. #}

{% macro scurry__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create database if not exists {{ relation.without_identifier() }}
  {%- endcall -%}
{% endmacro %}

{% macro scurry__drop_schema(relation) -%}
  {%- call statement('drop_schema') -%}
    drop database if exists {{ relation.without_identifier() }} cascade
  {%- endcall -%}
{% endmacro %}

{% macro scurry__with_options(options) -%}
  {%- if options %}
with (
  {%- for key, value in options.items() %}
  {{ adapter.literal(key) }} = {{ adapter.literal(value) }}{{ ',' if not loop.last }}
  {%- endfor %}
)
  {%- endif %}
{%- endmacro %}

{# Columns of a table that is created of a query. Those without a contract may be NULL: an incremental model gets rows
   that its first query had not. #}
{% macro scurry__columns_of(sql) -%}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
    {{ get_table_columns_and_constraints() }}
  {%- else -%}
    {%- set key = config.get('primary_key') -%}
    {%- set keys = [] if not key else [key] if key is string else key -%}
    (
    {%- for column in get_column_schema_from_query(sql) %}
      {{ column.quoted }} {{ column.data_type }}{{ ' not null' if column.name in keys }}{{ ',' if not loop.last or keys }}
    {%- endfor %}
    {%- if keys %}
      primary key ({{ get_quoted_csv(keys) }}) not enforced
    {%- endif %}
    )
  {%- endif -%}
{%- endmacro %}

{% macro scurry__create_empty_table(relation, sql) -%}
  {%- set partitions = config.get('partition_by') -%}
  create table {{ relation.render() }}
  {{ scurry__columns_of(sql) }}
  {%- if config.persist_relation_docs() and model.description %}
  comment {{ adapter.literal(model.description) }}
  {%- endif %}
  {%- if partitions %}
  partitioned by ({{ get_quoted_csv([partitions] if partitions is string else partitions) }})
  {%- endif %}
  {{- scurry__with_options(adapter.table_options(config.get('options'))) }}
{%- endmacro %}

{% macro scurry__create_table_as(temporary, relation, sql) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {{ sql_header if sql_header is not none }}
  {% if temporary -%}
drop temporary view if exists {{ relation.render() }};
create temporary view {{ relation.render() }} as
{{ sql }}
  {%- else -%}
    {%- set contract = config.get('contract') -%}
{{ scurry__create_empty_table(relation, sql) }};
insert into {{ relation.render() }}
{{ get_select_subquery(sql) if contract and contract.enforced else sql }}
  {%- endif %}
{%- endmacro %}

{% macro scurry__create_view_as(relation, sql) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {{ sql_header if sql_header is not none }}
  {%- set contract = config.get('contract') -%}
  {%- if contract and contract.enforced -%}
    {{ get_assert_columns_equivalent(sql) }}
  {%- endif %}
create view {{ relation.render() }}
  {%- if config.persist_relation_docs() and model.description %}
comment {{ adapter.literal(model.description) }}
  {%- endif %} as
{{ sql }}
{%- endmacro %}

{% macro scurry__drop_table(relation) -%}
  drop table if exists {{ relation.render() }}
{%- endmacro %}

{% macro scurry__drop_view(relation) -%}
  drop view if exists {{ relation.render() }}
{%- endmacro %}

{% macro scurry__drop_materialized_view(relation) -%}
  drop materialized table if exists {{ relation.render() }}
{%- endmacro %}

{% macro scurry__rename_relation(from_relation, to_relation) -%}
  {%- call statement('rename_relation') -%}
    alter {{ 'view' if adapter.is_view(from_relation) else 'table' }} {{ from_relation.render() }} rename to {{ to_relation.render() }}
  {%- endcall -%}
{%- endmacro %}

{% macro scurry__truncate_relation(relation) -%}
  {%- call statement('truncate_relation') -%}
    {%- if adapter.can_overwrite(relation) %}
    insert overwrite {{ relation.render() }} select * from {{ relation.render() }} where false
    {%- else %}
    truncate table {{ relation.render() }}
    {%- endif %}
  {%- endcall -%}
{%- endmacro %}

{% macro scurry__alter_relation_add_remove_columns(relation, add_columns=none, remove_columns=none) -%}
  {%- if add_columns -%}
    {%- call statement('add_columns') -%}
      alter table {{ relation.render() }} add (
      {%- for column in add_columns %}
        {{ column.quoted }} {{ column.expanded_data_type or column.data_type }}{{ ',' if not loop.last }}
      {%- endfor %}
      )
    {%- endcall -%}
  {%- endif -%}
  {%- if remove_columns -%}
    {%- call statement('drop_columns') -%}
      alter table {{ relation.render() }} drop ({{ get_quoted_csv(remove_columns | map(attribute='name')) }})
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}

{% macro scurry__create_columns(relation, columns) -%}
  {%- if columns -%}
    {{ scurry__alter_relation_add_remove_columns(relation, columns) }}
  {%- endif -%}
{%- endmacro %}

{% macro scurry__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
  {{ select_sql_header if select_sql_header is not none }}
  select * from (
{{ select_sql }}
  ) as dbt_subquery
  where false
{%- endmacro %}

{% macro scurry__current_timestamp() -%}
  cast(current_timestamp as timestamp(6))
{%- endmacro %}

{% macro scurry__validate_sql(sql) -%}
  {%- call statement('validate_sql', fetch_result=true) -%}
    explain {{ sql }}
  {%- endcall -%}
  {{ return(load_result('validate_sql')) }}
{%- endmacro %}

{% macro scurry__persist_docs(relation, model, for_relation, for_columns) -%}
  {# Comments are written when a table or view is created. #}
{%- endmacro %}

{% macro scurry__apply_grants(relation, grant_config, should_revoke) -%}
  {%- if grant_config -%}
    {{ exceptions.warn(relation ~ ": grants are left out, as SQL has none here") }}
  {%- endif -%}
{%- endmacro %}
