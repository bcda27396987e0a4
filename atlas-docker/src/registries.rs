//! Where packages come from while an image is built: settings of an engine, in no plan and no row.

use crate::quote::shell_quote;
use crate::substitute::Substitute;
use atlas_core::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Where packages come from while an image is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registries {
    /// Mirrors: registry, one of [`Registries::KNOWN`], and the address that takes its place.
    pub mirrors: BTreeMap<String, String>,
    /// The proxy of builds, `http://host:port`.
    pub proxy: Option<String>,
    /// Hosts that are reached without it, with commas between them.
    pub no_proxy: Option<String>,
    /// Certificates of authorities to trust, PEM: those of a proxy that looks into what it is sent.
    pub certificates: Option<PathBuf>,
    /// What takes the place of packages that no registry gives. Default: nothing, and a build that needs
    /// them fails.
    pub substitute: Option<Substitute>,
}

/// What a build gets beside a plan's own files.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    /// Files of the context.
    pub(crate) files: BTreeMap<String, String>,
    /// Instructions for the start of each stage.
    pub(crate) stage: String,
    /// Instructions of root, before all others.
    pub(crate) root: String,
    /// Build arguments that every engine knows and keeps out of an image's history.
    pub(crate) arguments: BTreeMap<String, String>,
}

/// The variables by which package managers are told of a registry.
const VARIABLES: &[(&str, &[&str])] = &[
    ("go", &["GOPROXY"]),
    (
        "npm",
        &[
            "npm_config_registry",
            "YARN_REGISTRY",
            "YARN_NPM_REGISTRY_SERVER",
            "COREPACK_NPM_REGISTRY",
        ],
    ),
    (
        "pypi",
        &["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"],
    ),
    ("rubygems", &["BUNDLE_MIRROR__ALL"]),
];

/// Variables by which programs are told whom to trust.
const TRUST: &[&str] = &[
    "CARGO_HTTP_CAINFO",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
];

const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

impl Registries {
    /// Registries that can have a mirror.
    pub const KNOWN: [&'static str; 7] =
        ["crates", "debian", "go", "maven", "npm", "pypi", "rubygems"];

    /// What a build gets.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a registry that is not known, an address that is none, and for
    /// certificates that cannot be read.
    pub(crate) fn setup(&self) -> Result<Setup, Error> {
        let refused = |what: String| Error::new(ErrorKind::InvalidInput, "set up registries", what);
        let mut setup = Setup::default();
        let mut script = String::new();
        for (registry, address) in &self.mirrors {
            if !Self::KNOWN.contains(&registry.as_str()) {
                let known = Self::KNOWN.join(", ");
                return Err(refused(format!("`{registry}` is none of {known}")));
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@+%,=?&|".contains(c);
            if !address.contains("://") || !address.chars().all(plain) {
                return Err(refused(format!(
                    "mirror of {registry}: `{address}` is no address"
                )));
            }
            let variables = VARIABLES.iter().find(|(name, _)| name == registry);
            for name in variables.map_or(&[][..], |(_, names)| names) {
                let _ = writeln!(setup.stage, "ARG {name}={address}");
            }
            // pip takes nothing from such a place unless it is told to.
            if registry == "pypi"
                && let Some(rest) = address.strip_prefix("http://")
            {
                let host = rest.split(['/', ':']).next().unwrap_or_default();
                let _ = writeln!(setup.stage, "ARG PIP_TRUSTED_HOST={host}");
            }
            let quoted = shell_quote(address);
            match registry.as_str() {
                "crates" => {
                    let _ = writeln!(
                        script,
                        "mkdir -p /.cargo\nprintf '%s\\n' '[source.crates-io]' 'replace-with = \"mirror\"' '[source.mirror]' \
                         'registry = \"{address}\"' > /.cargo/config.toml"
                    );
                }
                "debian" => {
                    let _ = writeln!(
                        script,
                        "find /etc/apt -name '*.sources' -o -name 'sources.list*' -type f |\n  \
                         xargs -r sed -i -E \"s|https?://deb.debian.org/debian( \\|/ \\|/?$)|$(printf %s {quoted})\\1|\""
                    );
                }
                "maven" => {
                    let _ = writeln!(
                        script,
                        "if command -v mvn > /dev/null; then\n  \
                         printf %s '<settings><mirrors><mirror><id>mirror</id><mirrorOf>central</mirrorOf><url>{address}</url></mirror></mirrors></settings>' \
                         > \"$(dirname \"$(readlink -f \"$(command -v mvn)\")\")/../conf/settings.xml\"\nfi"
                    );
                }
                _ => {}
            }
        }
        if let Some(path) = &self.certificates {
            let text = std::fs::read_to_string(path)
                .map_err(|why| Error::io("read certificates", path, why))?;
            if !text.contains("-----BEGIN CERTIFICATE-----") {
                let path = path.display();
                return Err(refused(format!("`{path}` holds no certificate in PEM")));
            }
            setup
                .files
                .insert("registries/certificates.crt".to_owned(), text);
            script.push_str(CERTIFICATES);
            for name in TRUST {
                let _ = writeln!(setup.stage, "ARG {name}={BUNDLE}");
            }
        }
        if !script.is_empty() {
            let head = "# Where packages come from: settings of the engine.\nset -eo pipefail\n";
            setup
                .files
                .insert("registries/setup.sh".to_owned(), format!("{head}{script}"));
            setup.root.push_str(
                "COPY registries/ /opt/atlas/registries/\nRUN bash /opt/atlas/registries/setup.sh\n",
            );
        }
        for (names, value) in [
            (
                ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"].as_slice(),
                &self.proxy,
            ),
            (&["NO_PROXY", "no_proxy"], &self.no_proxy),
        ] {
            if let Some(value) = value {
                let pairs = names.iter().map(|name| ((*name).to_owned(), value.clone()));
                setup.arguments.extend(pairs);
            }
        }
        Ok(setup)
    }
}

/// Trusts the certificates: what reads the system's bundle, and Java, which has its own.
const CERTIFICATES: &str = r#"mkdir -p /usr/local/share/ca-certificates /etc/ssl/certs
# There for every bundle that is made anew; one that others have added to is not made anew.
cp /opt/atlas/registries/certificates.crt /usr/local/share/ca-certificates/atlas.crt
cat /opt/atlas/registries/certificates.crt >> /etc/ssl/certs/ca-certificates.crt
if command -v keytool > /dev/null; then
  (cd "$(mktemp -d)" && csplit -sz -f authority- /opt/atlas/registries/certificates.crt '/-----BEGIN CERTIFICATE-----/' '{*}' &&
    for one in authority-*; do
      ! grep -q BEGIN "$one" || keytool -importcert -cacerts -storepass changeit -noprompt -alias "atlas-$one" -file "$one"
    done)
fi
"#;

#[cfg(test)]
mod tests {
    use super::Registries;
    use std::collections::BTreeMap;

    fn with(registry: &str, address: &str) -> Registries {
        Registries {
            mirrors: BTreeMap::from([(registry.to_owned(), address.to_owned())]),
            ..Registries::default()
        }
    }

    #[test]
    fn mirrors_reach_the_stages_or_a_script_of_root() {
        let pypi = with("pypi", "https://mirror.example/simple")
            .setup()
            .unwrap();
        assert!(
            pypi.stage
                .contains("ARG PIP_INDEX_URL=https://mirror.example/simple\n")
        );
        assert!(pypi.root.is_empty() && pypi.files.is_empty());
        for registry in ["crates", "debian", "maven"] {
            let setup = with(registry, "https://mirror.example/x").setup().unwrap();
            assert!(setup.files["registries/setup.sh"].contains("https://mirror.example/x"));
            assert!(setup.root.contains("registries/setup.sh"), "{registry}");
        }
        assert!(Registries::default().setup().unwrap().stage.is_empty());
    }

    #[test]
    fn what_is_no_registry_or_no_address_is_refused() {
        for (registry, address, what) in [
            ("cpan", "https://x.example", "none of crates, debian"),
            ("npm", "mirror.example", "no address"),
            ("npm", "https://x.example/\nUSER root", "no address"),
        ] {
            let why = with(registry, address).setup().unwrap_err().chain();
            assert!(why.contains(what), "{why}");
        }
    }

    #[test]
    fn a_proxy_is_no_part_of_the_image() {
        let registries = Registries {
            proxy: Some("http://proxy.example:3128".to_owned()),
            no_proxy: Some("localhost".to_owned()),
            ..Registries::default()
        };
        let setup = registries.setup().unwrap();
        assert_eq!(setup.arguments.len(), 6);
        assert!(setup.stage.is_empty() && setup.root.is_empty());
    }
}
