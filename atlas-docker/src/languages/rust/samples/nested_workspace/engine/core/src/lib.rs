#[cfg(test)]
mod tests {
    #[test]
    fn spins() {}
}
