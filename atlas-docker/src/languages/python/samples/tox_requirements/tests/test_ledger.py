def test_entries():
    import ledger

    assert ledger.ENTRIES == []
