{# An INSERT. In a target of mode streaming its job runs on in the gateway; a changed model stops it with a savepoint and
   starts from that. In a target of mode batch it ends with its input, and the table is made anew. #}

{% materialization streaming_job, adapter='scurry' -%}
  {%- if target.mode != 'streaming' -%}
    {{ return(dbt.materialization_table_default()) }}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {%- if existing is not none and (should_full_refresh() or not existing.is_table) -%}
    {%- do adapter.cancel_streaming_job(target_relation) -%}
    {%- do adapter.drop_relation(existing) -%}
    {%- set existing = none -%}
  {%- endif -%}
  {%- if existing is none -%}
    {%- call statement('create_table') -%}
      {{ scurry__create_empty_table(target_relation, sql) }}
    {%- endcall -%}
  {%- else -%}
    {%- do scurry__add_new_columns(target_relation, sql) -%}
  {%- endif -%}
  {%- set names = get_quoted_csv(get_column_schema_from_query(sql) | map(attribute='name')) -%}
  {%- set statement = 'insert into ' ~ target_relation.render() ~ ' (' ~ names ~ ')\n' ~ sql -%}
  {%- set done = adapter.run_streaming_job(target_relation, statement, config.get('settings')) -%}
  {%- do log(target_relation.render() ~ ': ' ~ done, info=true) -%}
  {%- call noop_statement('main', done) -%}
    {{ statement }}
  {%- endcall -%}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{%- endmaterialization %}

{# Further columns are added; others need a new table. #}
{% macro scurry__add_new_columns(relation, sql) -%}
  {%- set new = get_column_schema_from_query(sql) -%}
  {%- set old = adapter.get_columns_in_relation(relation) -%}
  {%- set types = {} -%}
  {%- for column in old -%}{%- do types.update({column.name: column.data_type}) -%}{%- endfor -%}
  {%- set added = [] -%}
  {%- for column in new -%}
    {%- if column.name not in types -%}
      {%- do added.append(column) -%}
    {%- elif types[column.name] != column.data_type -%}
      {%- do exceptions.raise_compiler_error('column ' ~ column.name ~ ' of ' ~ relation ~ ' is ' ~ types[column.name] ~ ', and ' ~ column.data_type ~ ' in the model: make a new table by --full-refresh') -%}
    {%- endif -%}
  {%- endfor -%}
  {%- if added -%}
    {%- do scurry__alter_relation_add_remove_columns(relation, added) -%}
  {%- endif -%}
{%- endmacro %}

{% macro scurry__model_relation(name) -%}
  {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name == name -%}
    {{ return(api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias, type='table')) }}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error('there is no model ' ~ name) -%}
{%- endmacro %}

{# dbt run-operation streaming_jobs #}
{% macro streaming_jobs() -%}
  {%- for job in adapter.streaming_jobs() -%}
    {%- do log(job.model ~ '  ' ~ job.status ~ '  ' ~ job.id ~ '  since ' ~ job.started, info=true) -%}
  {%- endfor -%}
{%- endmacro %}

{# dbt run-operation stop_streaming_job --args '{model: totals}' #}
{% macro stop_streaming_job(model) -%}
  {%- set savepoint = adapter.stop_streaming_job(scurry__model_relation(model)) -%}
  {%- do log(model ~ (': stopped with savepoint ' ~ savepoint if savepoint else ': no job runs'), info=true) -%}
{%- endmacro %}

{# Sources whose `meta` has `options`, those of CREATE TABLE, are created: on-run-start: "{{ create_sources() }}". #}
{% macro create_sources() -%}
  {%- if execute and flags.WHICH in ('run', 'build', 'test', 'seed', 'snapshot', 'source', 'run-operation') -%}
    {%- for source in graph.sources.values() -%}
      {%- set meta = source.config.get('meta') or source.meta -%}
      {%- if meta and meta.options -%}
        {%- set relation = api.Relation.create(database=source.database, schema=source.schema, identifier=source.identifier) -%}
        {%- do run_query('create database if not exists ' ~ relation.without_identifier()) -%}
        {%- set options = {} -%}
        {%- for key, value in meta.options.items() if value is not none and value != '' -%}
          {%- do options.update({key: value}) -%}
        {%- endfor -%}
        {%- set ddl -%}
create table if not exists {{ relation }} (
          {%- for column in source.columns.values() %}
  {{ adapter.quote(column.name) }} {{ column.data_type }}{{ ',' if not loop.last or meta.watermark or meta.primary_key }}
          {%- endfor %}
          {%- if meta.watermark %}
  watermark for {{ meta.watermark }}{{ ',' if meta.primary_key }}
          {%- endif %}
          {%- if meta.primary_key %}
  primary key ({{ meta.primary_key }}) not enforced
          {%- endif %}
){{ scurry__with_options(options) }}
        {%- endset -%}
        {%- do run_query(ddl) -%}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro %}
