# The README's commands on a bare machine. What of it was tried, and what was not: docs/publishing.md.
#
# docker build -t kronbench .
# docker run -v "$PWD/results:/kronbench/results" kronbench make figures SCALE=smoke
FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ git make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /kronbench
COPY . .
RUN make .venv/ready
ENV PATH=/kronbench/.venv/bin:$PATH
CMD ["make", "figures"]
