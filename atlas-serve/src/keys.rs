//! Tokens: what only the server can have made.

use crate::Secret;
use atlas_core::{Error, ErrorKind};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Makes tokens and knows them again.
///
/// A token is the HMAC-SHA-256 of the episode's name under a secret of the folder: none is stored, and it is held
/// against the right one in constant time before anybody looks whether there is such an episode. So a wrong token
/// and an episode that never was look alike.
#[derive(Clone)]
pub(crate) struct Keys {
    secret: [u8; 32],
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(***)")
    }
}

impl Keys {
    /// Those of a folder; the first time, a secret is written that only its owner can read.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("secret");
        let mut secret = [0; 32];
        match std::fs::File::open(&path) {
            Ok(mut file) => {
                let fail = |why| Error::io("read the secret", &path, why);
                file.read_exact(&mut secret).map_err(fail)?;
            }
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {
                fill(&mut secret)?;
                let fail = |why| Error::io("write the secret", &path, why);
                let next = folder.join("secret.new");
                let mut options = std::fs::OpenOptions::new();
                options.write(true).create(true).truncate(true).mode(0o600);
                let mut file = options.open(&next).map_err(fail)?;
                file.write_all(&secret).map_err(fail)?;
                file.sync_all().map_err(fail)?;
                std::fs::rename(&next, &path).map_err(fail)?;
            }
            Err(why) => return Err(Error::io("read the secret", &path, why)),
        }
        Ok(Self { secret })
    }

    fn mac(&self, name: &[u8]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.secret).expect("a key may be of any length");
        mac.update(name);
        mac
    }

    /// The token of an episode.
    pub(crate) fn token(&self, episode: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.mac(episode.as_bytes()).finalize().into_bytes())
    }

    /// Whether this is the token of that episode.
    pub(crate) fn is_token(&self, episode: &str, token: &str) -> bool {
        let given = URL_SAFE_NO_PAD.decode(token).unwrap_or_default();
        let mac = self.mac(episode.as_bytes());
        mac.verify_slice(&given).is_ok()
    }

    /// Whether two texts are one, in a time that tells nothing of where they differ.
    pub(crate) fn is_same(&self, wanted: &Secret, given: &str) -> bool {
        let wanted = self.mac(wanted.bytes()).finalize().into_bytes();
        self.mac(given.as_bytes()).verify_slice(&wanted).is_ok()
    }
}

/// A name that nobody can guess.
pub(crate) fn new_name() -> Result<String, Error> {
    let mut bytes = [0; 15];
    fill(&mut bytes)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes)
        .map_err(|why| Error::new(ErrorKind::Io, "ask for random bytes", "").with_source(why))
}
