"""What may name a folder: studies, data sets and protocols."""

import re

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
NAME_RULE = "letters, digits, '.', '_' and '-' after a letter or digit, 100 at most"
