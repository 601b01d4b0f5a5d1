"""The attacks of an outside tester, and of everyone who reads their list: requests that ask for too much.

    memory         bodies, pages and lists that are small to send and large to expand (promise 25)
    work           requests that keep threads busy, and clients that leave (promise 26)
    spreadsheets   the .xlsx files that both send
    watching       what a server takes meanwhile: its peak memory, and the time of honest reports

Each attack is a function that attacks a server once and gives the answers; promises 25 and 26 run them all.
"""
