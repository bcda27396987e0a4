//! C# and other languages of .NET.
