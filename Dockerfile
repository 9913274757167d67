# The README's commands on a bare machine, and jobs whose files lie in a store (docs/cluster.md). What of
# it was tried, and what was not: docs/publishing.md.
#
# docker build -t kronbench .
# docker run -v "$PWD/results:/kronbench/results" kronbench make figures SCALE=smoke
FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make rsync \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /kronbench
COPY . .
RUN make .venv/ready && .venv/bin/python -m pip install --quiet \
    snakemake-storage-plugin-fs==1.1.3 snakemake-storage-plugin-s3==0.3.6
ENV PATH=/kronbench/.venv/bin:$PATH
CMD ["make", "figures"]
