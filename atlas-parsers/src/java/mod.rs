//! Java and other languages of the JVM.
