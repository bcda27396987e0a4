#[cfg(test)]
mod tests {
    #[test]
    fn runs() {}
}
