"""What ``make types`` holds calls against annotations with: beartype, with whole numbers as floats (PEP 484)."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
