//! Lines of code, by tokei: only with the feature `count-lines`, for it brings four score crates along.

#[cfg(feature = "count-lines")]
pub(super) use counted::Language;
#[cfg(not(feature = "count-lines"))]
pub(super) use uncounted::Language;

#[cfg(feature = "count-lines")]
mod counted {
    use std::path::Path;
    use tokei::{Config, LanguageType};

    /// A programming language.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::hosts) struct Language(LanguageType);

    impl Language {
        /// That of a file's name; of text, data and configuration none.
        pub(in crate::hosts) fn of(path: &str) -> Option<Self> {
            let found = LanguageType::from_path(Path::new(path), &Config::default());
            found.filter(|language| is_code(*language)).map(Self)
        }

        pub(in crate::hosts) fn name(self) -> &'static str {
            self.0.name()
        }

        /// Lines that are neither blank nor comments.
        pub(in crate::hosts) fn lines(self, content: &[u8]) -> u64 {
            let stats = self.0.parse_from_slice(content, &Config::default());
            stats.summarise().code as u64
        }
    }

    /// Languages of tokei that are no code: text, data, configuration.
    fn is_code(language: LanguageType) -> bool {
        use LanguageType as L;
        !language.is_literate()
            && !matches!(
                language,
                L::Json
                    | L::Jsonnet
                    | L::Yaml
                    | L::Toml
                    | L::Xml
                    | L::Svg
                    | L::Html
                    | L::Css
                    | L::Ini
                    | L::Text
                    | L::ReStructuredText
                    | L::AsciiDoc
                    | L::Org
                    | L::Tex
                    | L::MsBuild
                    | L::Dockerfile
            )
    }
}

#[cfg(not(feature = "count-lines"))]
mod uncounted {
    /// No language is known without the feature.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::hosts) enum Language {}

    impl Language {
        pub(in crate::hosts) fn of(_: &str) -> Option<Self> {
            None
        }

        pub(in crate::hosts) fn name(self) -> &'static str {
            match self {}
        }

        pub(in crate::hosts) fn lines(self, _: &[u8]) -> u64 {
            match self {}
        }
    }
}
