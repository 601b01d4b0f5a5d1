"""Turns an uploaded file into a checked candidate table; knows neither HTTP nor SQL.

`uploads` picks the reader for a media type. Every reader returns a `CandidateTable` or raises `InvalidCandidates`. Its
findings name the row, the column, the rule and the fix, but never the value.

    csv_reading, json_reading, arrow_reading    columns of raw cells (`cell_types`)
        columns                                 gives each column its kind and checks its cells
        table                                   builds the table and adds `warnings`
    npy_reading, space                          arrays of numbers; they build the table directly
"""
