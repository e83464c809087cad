"""Everything a report needs of one study, and what one study teaches the next."""
