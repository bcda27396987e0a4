//! C and C++.
