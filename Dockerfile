# Driver and worker of scurry's jobs: Python, Java, Spark and all connectors. The entry point is `scurry`:
#     docker build -t scurry . && docker run --rm -v "$PWD:/job" scurry run /job/words.py
# On Kubernetes the same image serves as Spark's: `spark.kubernetes.container.image` (docs/operations.md).
FROM python:3.11-slim AS build
COPY . /source
RUN python -m venv /opt/scurry \
 && /opt/scurry/bin/pip install --no-cache-dir --constraint /source/requirements.lock \
      "/source[java,kafka,postgres,avro,delta,iceberg]"

FROM python:3.11-slim
# Spark's scripts call ps; tini reaps the workers of killed jobs.
RUN apt-get update && apt-get install --yes --no-install-recommends procps tini && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 185 spark
COPY --from=build /opt/scurry /opt/scurry
ENV PATH=/opt/scurry/bin:$PATH PYSPARK_PYTHON=/opt/scurry/bin/python
USER spark
WORKDIR /home/spark
# What the first job would prepare.
RUN scurry setup
# `scurry`, and what Spark starts in its pods (`driver`, `executor`).
ENTRYPOINT ["tini", "--", "python", "-m", "scurry.spark.session.pod"]
CMD ["--help"]
