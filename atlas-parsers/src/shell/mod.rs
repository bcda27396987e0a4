//! Shell and Perl.
