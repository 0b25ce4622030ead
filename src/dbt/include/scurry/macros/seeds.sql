{% macro scurry__seed_type(model, agate_table, index, name) -%}
  {{ return(model['config'].get('column_types', {}).get(name, adapter.convert_type(agate_table, index))) }}
{%- endmacro %}

{% macro scurry__create_csv_table(model, agate_table) -%}
  {%- set sql -%}
create table {{ this.render() }} (
    {%- for name in agate_table.column_names %}
  {{ adapter.quote(name) }} {{ scurry__seed_type(model, agate_table, loop.index0, name) }}{{ ',' if not loop.last }}
    {%- endfor %}
){{ scurry__with_options(adapter.table_options(config.get('options'))) }}
  {%- endset -%}
  {%- call statement('_') -%}
    {{ sql }}
  {%- endcall -%}
  {{ return(sql) }}
{%- endmacro %}

{# A parameter that is NULL needs a type: every value gets that of its column. #}
{% macro scurry__load_csv_rows(model, agate_table) -%}
  {%- set types = [] -%}
  {%- for name in agate_table.column_names -%}
    {%- do types.append(scurry__seed_type(model, agate_table, loop.index0, name)) -%}
  {%- endfor -%}
  {%- set statements = [] -%}
  {%- for chunk in agate_table.rows | batch(1000) -%}
    {%- set bindings = [] -%}
    {%- for row in chunk -%}
      {%- do bindings.extend(row) -%}
    {%- endfor -%}
    {%- set sql -%}
insert into {{ this.render() }} ({{ get_quoted_csv(agate_table.column_names) }}) values
      {%- for row in chunk %}
  ({% for type in types %}cast(? as {{ type }}){{ ', ' if not loop.last }}{% endfor %}){{ ',' if not loop.last }}
      {%- endfor -%}
    {%- endset -%}
    {%- do adapter.add_query(sql, bindings=bindings, abridge_sql_log=True) -%}
    {%- if loop.index0 == 0 -%}
      {%- do statements.append(sql) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(statements[0] if statements else '') }}
{%- endmacro %}
