Feature: run
  Scenario: one
    Given nothing
