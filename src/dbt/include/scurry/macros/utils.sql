{# What dbt's macros of all databases write in another way than Flink's SQL. #}

{% macro scurry__date(year, month, day) -%}
  date '{{ modules.datetime.date(year, month, day).strftime('%Y-%m-%d') }}'
{%- endmacro %}

{% macro scurry__date_trunc(datepart, date) -%}
  floor(cast({{ date }} as timestamp(6)) to {{ datepart }})
{%- endmacro %}

{% macro scurry__dateadd(datepart, interval, from_date_or_timestamp) -%}
  timestampadd({{ datepart }}, {{ interval }}, cast({{ from_date_or_timestamp }} as timestamp(6)))
{%- endmacro %}

{% macro scurry__datediff(first_date, second_date, datepart) -%}
  timestampdiff({{ datepart }}, floor(cast({{ first_date }} as timestamp(6)) to {{ datepart }}), floor(cast({{ second_date }} as timestamp(6)) to {{ datepart }}))
{%- endmacro %}

{% macro scurry__bool_or(expression) -%}
  (max(case when {{ expression }} then 1 else 0 end) = 1)
{%- endmacro %}

{% macro scurry__any_value(expression) -%}
  first_value({{ expression }})
{%- endmacro %}

{% macro scurry__length(expression) -%}
  char_length({{ expression }})
{%- endmacro %}

{% macro scurry__split_part(string_text, delimiter_text, part_number) -%}
  {%- if part_number >= 0 -%}
  split_index({{ string_text }}, {{ delimiter_text }}, {{ part_number - 1 }})
  {%- else -%}
  split_index({{ string_text }}, {{ delimiter_text }}, (char_length({{ string_text }}) - char_length(replace({{ string_text }}, {{ delimiter_text }}, ''))) / char_length({{ delimiter_text }}) + 1 + ({{ part_number }}))
  {%- endif -%}
{%- endmacro %}

{% macro scurry__safe_cast(field, type) -%}
  {%- if field | string | lower | trim == 'null' -%}
  cast(null as {{ type }})
  {%- else -%}
  try_cast({{ field }} as {{ type }})
  {%- endif -%}
{%- endmacro %}

{% macro scurry__cast_bool_to_text(field) -%}
  lower(cast({{ field }} as string))
{%- endmacro %}

{% macro scurry__array_construct(inputs, data_type) -%}
  {%- if inputs -%}
  array[{{ inputs | join(', ') }}]
  {%- else -%}
  cast(array() as array<{{ data_type }}>)
  {%- endif -%}
{%- endmacro %}

{% macro scurry__array_concat(array_1, array_2) -%}
  array_concat({{ array_1 }}, {{ array_2 }})
{%- endmacro %}

{% macro scurry__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  listagg({{ measure }}, {{ delimiter_text }})
{%- endmacro %}
