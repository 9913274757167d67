from ._load import (
    Record as Record,
    aliases as aliases,
    describe as describe,
    files as files,
    folds as folds,
    load as load,
    names as names,
    own_tables as own_tables,
    record_of as record_of,
)
from .dataset import KINDS as KINDS, Dataset as Dataset, FileRecord as FileRecord, Loader as Loader
from .loaders import LOADERS as LOADERS
from .published_folds import Leak as Leak, PublishedFold as PublishedFold
