//! Tokens: secrets by which a server knows its callers. Their text is in files and on
//! connections alone, never in arguments, the environment or logs.

use std::{
    fmt,
    fs::File,
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use http::HeaderValue;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tonic::{
    Request, Status,
    metadata::{Ascii, MetadataMap, MetadataValue},
    service::Interceptor,
};

use crate::{dial::Target, file, reload::Reloaded};

/// The beginning of every token, so that people and scanners for secrets recognise one.
const PREFIX: &str = "arena_";
/// Number of random bytes in a token.
const BYTES: usize = 32;
/// The header in which a call carries its token.
const HEADER: &str = "authorization";
const SCHEME: &str = "Bearer ";

/// A secret: `arena_` and 64 hexadecimal digits. It is shown nowhere.
#[derive(Clone)]
pub struct Token(String);

/// The SHA-256 of a token's text, which may be stored and shown. Two are compared by
/// [`TokenHash::is_of`] alone, which takes the same time whatever they are:
///
/// ```compile_fail
/// let hash = referee_net::Token::generate().unwrap().hash();
/// hash == hash;
/// ```
#[derive(Clone)]
pub struct TokenHash([u8; 32]);

/// The tokens of a file, one a line, of which a caller must have one. The file may change
/// while the program runs.
#[derive(Clone)]
pub struct TokenFile(Arc<Reloaded<Vec<TokenHash>, TokenError>>);

/// The tokens of a file, one a line, each after the name of its caller: `NAME TOKEN`. The file
/// may change while the program runs.
#[derive(Clone)]
pub struct NamedTokens(Arc<Reloaded<Vec<(String, TokenHash)>, TokenError>>);

/// Adds a token to each call of a client.
#[derive(Clone)]
pub struct Bearer(MetadataValue<Ascii>);

/// Reason why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The text is none.
    #[error("expected a token: {PREFIX} and 64 hexadecimal digits")]
    NoToken,
    /// The text is no hash.
    #[error("expected the hash of a token: 64 hexadecimal digits")]
    NoHash,
    /// The file can't be read or written.
    #[error("could not {doing} the token file {}: {error}", path.display())]
    File {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file holds something else.
    #[error(
        "{}: expected {expected}, each {PREFIX} and 64 hexadecimal digits; {found}",
        path.display()
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// The expected content.
        expected: &'static str,
        /// The place of the mistake.
        found: String,
    },
    /// Every user may read the file.
    #[error(
        "{}: every user of this machine may read this token: make it yours alone with \
         `chmod 600 {}`, and use a new token if others use this machine",
        path.display(),
        path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
    },
    /// The token would cross a network in plain text.
    #[error(
        "{0} has no TLS, and whoever is between could read the token: use https://, or allow \
         plain text where the network is trusted"
    )]
    Plaintext(Target),
    /// The system gives no random bytes.
    #[error("could not draw a token: {0}")]
    Random(getrandom::Error),
}

impl Token {
    /// A new one.
    ///
    /// # Errors
    ///
    /// The system gives no random bytes.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
        Ok(Self(format!("{PREFIX}{}", hex::encode(bytes))))
    }

    /// Reads the one token of a file. Empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// The file can't be read, every user may read it, or it does not hold one token.
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        let mut tokens = tokens(path)?;
        match (tokens.pop(), tokens.is_empty()) {
            (Some(token), true) => Ok(token),
            _ => Err(TokenError::Content {
                path: path.to_owned(),
                expected: "one token",
                found: format!("it has {} lines", tokens.len() + 1),
            }),
        }
    }

    /// Writes it to a new file that only its owner may read.
    ///
    /// # Errors
    ///
    /// The file can't be written, or is there already.
    pub fn write_new(&self, path: &Path) -> Result<(), TokenError> {
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path);
        file.and_then(|mut file| writeln!(file, "{}", self.0))
            .map_err(|error| TokenError::File {
                doing: "write",
                path: path.to_owned(),
                error,
            })
    }

    /// Its hash, which may be stored and shown.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(&self.0).into())
    }

    /// The text itself, to be handed to whom it is for, once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The header in which a request carries it: it is neither logged nor kept by the compression of
    /// headers.
    pub(crate) fn header(&self) -> HeaderValue {
        let value = HeaderValue::try_from(format!("{SCHEME}{}", self.0));
        let mut value = value.expect("letters and digits");
        value.set_sensitive(true);
        value
    }

    /// The token that a call carries, if it carries one.
    ///
    /// # Errors
    ///
    /// What it carries as a token is none.
    pub fn of_call(metadata: &MetadataMap) -> Result<Option<Self>, TokenError> {
        let mut values = metadata.get_all(HEADER).iter();
        let (value, more) = (values.next(), values.next());
        match (value, more) {
            (None, _) => Ok(None),
            (Some(_), Some(_)) => Err(TokenError::NoToken),
            (Some(value), None) => {
                let text = value.to_str().map_err(|_| TokenError::NoToken)?;
                let scheme = text.get(..SCHEME.len()).ok_or(TokenError::NoToken)?;
                if !scheme.eq_ignore_ascii_case(SCHEME) {
                    return Err(TokenError::NoToken);
                }
                text[SCHEME.len()..].trim().parse().map(Some)
            }
        }
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let digits = text.strip_prefix(PREFIX).ok_or(TokenError::NoToken)?;
        let mut bytes = [0; BYTES];
        hex::decode_to_slice(digits, &mut bytes).map_err(|_| TokenError::NoToken)?;
        // One token has one text.
        Ok(Self(format!("{PREFIX}{}", hex::encode(bytes))))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}(hidden)")
    }
}

impl TokenHash {
    /// True if it is the hash of this token. The time that it takes does not depend on where
    /// they differ.
    #[must_use]
    pub fn is_of(&self, token: &Token) -> bool {
        self.compare(&token.hash()).into()
    }

    fn compare(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl FromStr for TokenHash {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| TokenError::NoHash)?;
        Ok(Self(bytes))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({self})")
    }
}

impl TokenFile {
    /// Reads the tokens of a file. Empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// The file can't be read, every user may read it, or it does not hold tokens.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let file = path.to_owned();
        let read = move || {
            let tokens = tokens(&file)?;
            Ok(tokens.iter().map(Token::hash).collect())
        };
        Reloaded::load(vec![path.to_owned()], read).map(|tokens| Self(Arc::new(tokens)))
    }

    /// True if a token is among them. Each of them is compared, in a time that does not
    /// depend on what it is.
    #[must_use]
    pub fn has(&self, token: &Token) -> bool {
        let wanted = token.hash();
        let known = self.0.present();
        let found = known
            .iter()
            .fold(Choice::from(0), |found, one| found | one.compare(&wanted));
        found.into()
    }

    /// Lets a call pass that carries one of them.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, with what to send.
    pub fn check(&self, metadata: &MetadataMap) -> Result<(), Status> {
        let refused = |why: &str| {
            Err(Status::unauthenticated(format!(
                "{why}: send the header \"{HEADER}: {SCHEME}TOKEN\" with a token that this server \
                 knows"
            )))
        };
        match Token::of_call(metadata) {
            Ok(Some(token)) if self.has(&token) => Ok(()),
            Ok(Some(_)) => refused("this token is not known here"),
            Ok(None) => refused("a token is missing"),
            Err(_) => refused("what was sent is no token"),
        }
    }
}

impl NamedTokens {
    /// Longest name, in characters.
    pub const LONGEST_NAME: usize = 40;

    /// Reads the names and tokens of a file. Empty lines and those that begin with `#` are skipped.
    ///
    /// # Errors
    ///
    /// The file can't be read, every user may read it, or it does not hold names and tokens, each
    /// of them once.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let file = path.to_owned();
        let read = move || named_tokens(&file);
        Reloaded::load(vec![path.to_owned()], read).map(|tokens| Self(Arc::new(tokens)))
    }

    /// The name that a token stands after. Each of them is compared, in a time that does not
    /// depend on what it is.
    #[must_use]
    pub fn name_of(&self, token: &Token) -> Option<String> {
        let wanted = token.hash();
        let known = self.0.present();
        let mut found = None;
        for (name, one) in known.iter() {
            if one.compare(&wanted).into() {
                found = Some(name);
            }
        }
        found.cloned()
    }

    /// The names, in the order of the file.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let known = self.0.present();
        known.iter().map(|(name, _)| name.clone()).collect()
    }

    /// True if a text can be a name: it is also part of the names of files and of addresses.
    #[must_use]
    pub fn is_name(text: &str) -> bool {
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.len() <= Self::LONGEST_NAME
            && text.chars().all(of_a_name)
    }

    /// The socket of the bot with this name, in the folder of a lobby.
    #[must_use]
    pub fn socket(folder: &Path, name: &str) -> PathBuf {
        folder.join(format!("{name}.sock"))
    }
}

impl fmt::Debug for NamedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NamedTokens(hidden)")
    }
}

impl fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenFile(hidden)")
    }
}

impl Interceptor for TokenFile {
    fn call(&mut self, request: Request<()>) -> Result<Request<()>, Status> {
        self.check(request.metadata()).map(|()| request)
    }
}

impl Bearer {
    /// Adds this token to each call to this server. `plaintext` allows a server without TLS
    /// on another machine.
    ///
    /// # Errors
    ///
    /// The token would cross a network in plain text, and that is not allowed.
    pub fn new(token: &Token, server: &Target, plaintext: bool) -> Result<Self, TokenError> {
        if !server.has_tls() && !server.is_loopback() && !plaintext {
            return Err(TokenError::Plaintext(server.clone()));
        }
        let value = MetadataValue::try_from(token.header().as_bytes());
        let mut value = value.map_err(|_| TokenError::NoToken)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }
}

impl Bearer {
    /// Adds the token to the metadata of a call.
    pub fn add_to(&self, metadata: &mut MetadataMap) {
        metadata.insert(HEADER, self.0.clone());
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(hidden)")
    }
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        self.add_to(request.metadata_mut());
        Ok(request)
    }
}

/// The tokens of a file, of which there is at least one.
fn tokens(path: &Path) -> Result<Vec<Token>, TokenError> {
    let expected = "tokens, one a line";
    let lines = lines(path, expected)?;
    if lines.is_empty() {
        return Err(wrong(path, expected, "it has none".to_owned()));
    }
    let tokens = lines.into_iter().map(|(number, line)| {
        let none = |_| wrong(path, expected, format!("line {number} is none"));
        line.parse().map_err(none)
    });
    tokens.collect()
}

/// The names and tokens of a file. There may be none any more.
fn named_tokens(path: &Path) -> Result<Vec<(String, TokenHash)>, TokenError> {
    let expected = "lines NAME TOKEN, where a name is 1 to 40 letters, digits, dots, hyphens and \
                    underscores, and tokens";
    let mut known: Vec<(String, TokenHash)> = Vec::new();
    for (number, line) in lines(path, expected)? {
        let wrong = |why: &str| wrong(path, expected, format!("line {number} {why}"));
        let (name, token) = line
            .split_once(char::is_whitespace)
            .ok_or_else(|| wrong("is none"))?;
        let token: Token = token.trim().parse().map_err(|_| wrong("has no token"))?;
        if !NamedTokens::is_name(name) {
            return Err(wrong("has no name"));
        }
        let is_known = |known: &(String, TokenHash)| known.0 == name || known.1.is_of(&token);
        if known.iter().any(is_known) {
            return Err(wrong("has a name or a token that an earlier line has"));
        }
        known.push((name.to_owned(), token.hash()));
    }
    Ok(known)
}

fn wrong(path: &Path, expected: &'static str, found: String) -> TokenError {
    TokenError::Content {
        path: path.to_owned(),
        expected,
        found,
    }
}

/// The lines of a file of tokens with their numbers.
fn lines(path: &Path, expected: &'static str) -> Result<Vec<(usize, String)>, TokenError> {
    let (bytes, metadata) = file::read(path).map_err(|error| TokenError::File {
        doing: "read",
        path: path.to_owned(),
        error,
    })?;
    if file::is_open_to_all(&metadata) {
        return Err(TokenError::Open {
            path: path.to_owned(),
        });
    }
    let wrong = |found: &str| wrong(path, expected, found.to_owned());
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is no text"))?;
    let lines = (1..).zip(text.lines().map(|line| line.trim().to_owned()));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    Ok(lines.collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file_with(text: &str, mode: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn carrying(value: &str) -> MetadataMap {
        let mut metadata = MetadataMap::new();
        metadata.insert(HEADER, value.parse().unwrap());
        metadata
    }

    #[test]
    fn a_token_is_shown_nowhere() {
        let token = Token::generate().unwrap();
        let secret = token.reveal().strip_prefix(PREFIX).unwrap();
        let (_folder, path) = file_with(&format!("{}\n", token.reveal()), 0o600);
        let server = "https://arena.example:5".parse().unwrap();
        let mut bearer = Bearer::new(&token, &server, false).unwrap();
        let call = bearer.call(Request::new(())).unwrap();
        let known = TokenFile::load(&path).unwrap();
        let shown = [
            format!("{token}"),
            format!("{token:?}"),
            format!("{bearer:?}"),
            format!("{known:?}"),
            format!("{:?}", call.metadata()),
            format!("{:?}", token.hash()),
        ];
        for shown in shown {
            assert!(!shown.contains(&secret[..8]), "{shown}");
        }
    }

    #[test]
    fn a_call_carries_the_token_that_it_was_given() {
        let token = Token::generate().unwrap();
        let server = "https://arena.example:5".parse().unwrap();
        let mut bearer = Bearer::new(&token, &server, false).unwrap();
        let call = bearer.call(Request::new(())).unwrap();
        let read = Token::of_call(call.metadata()).unwrap().unwrap();
        assert!(token.hash().is_of(&read));
        assert!(!Token::generate().unwrap().hash().is_of(&read));
    }

    #[test]
    fn a_hash_is_of_its_token_alone_wherever_another_differs() {
        let token = Token::generate().unwrap();
        let hash: TokenHash = token.hash().to_string().parse().unwrap();
        assert!(hash.is_of(&token));
        for byte in 0..32 {
            let mut other = token.hash();
            other.0[byte] ^= 1;
            assert!(!other.is_of(&token), "byte {byte}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused_and_not_repeated() {
        let good = Token::generate().unwrap();
        let good = good.reveal();
        for text in [
            "",
            "arena_",
            &good[1..],
            &good[..good.len() - 1],
            &format!("{good}0"),
            &good.replace(PREFIX, "arena-"),
            "arena_secretsecretsecretsecretsecretsecretsecretsecretsecretsecretsecr",
        ] {
            let error = text.parse::<Token>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        for value in [good, &format!("Basic {good}"), "Bearer", "Bearer x", "é"] {
            let Ok(value) = value.parse() else { continue };
            let mut metadata = MetadataMap::new();
            metadata.insert(HEADER, value);
            Token::of_call(&metadata).unwrap_err();
        }
        let mut twice = carrying(&format!("Bearer {good}"));
        twice.append(HEADER, format!("Bearer {good}").parse().unwrap());
        Token::of_call(&twice).unwrap_err();
    }

    #[test]
    fn a_server_knows_each_token_of_its_file_and_no_other() {
        let [one, two, other] = [(); 3].map(|()| Token::generate().unwrap());
        let text = format!("# ours\n{}\n\n{}", one.reveal(), two.reveal());
        let (_folder, path) = file_with(&text, 0o640);
        let known = TokenFile::load(&path).unwrap();
        let check = |token: &Token| known.check(&carrying(&format!("bearer {}", token.reveal())));
        check(&one).unwrap();
        check(&two).unwrap();
        let not_known = check(&other).unwrap_err();
        let missing = known.check(&MetadataMap::new()).unwrap_err();
        let none = known.check(&carrying("Bearer x")).unwrap_err();
        for (status, words) in [
            (not_known, "not known"),
            (missing, "missing"),
            (none, "no token"),
        ] {
            assert_eq!(status.code(), tonic::Code::Unauthenticated);
            assert!(status.message().contains(words), "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_is_taken_out_of_the_file_is_not_known_any_more() {
        let [one, two] = [(); 2].map(|()| Token::generate().unwrap());
        let (_folder, path) = file_with(one.reveal(), 0o600);
        let known = TokenFile::load(&path).unwrap();
        assert!(known.has(&one) && !known.has(&two));
        std::fs::write(&path, format!("{}\n", two.reveal())).unwrap();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        assert!(!known.has(&one) && known.has(&two));
    }

    #[tokio::test]
    async fn a_token_has_the_name_of_its_line_and_no_other() {
        let [one, two, other] = [(); 3].map(|()| Token::generate().unwrap());
        let lines = |lines: &[(&str, &Token)]| {
            let lines = lines.iter();
            let lines = lines.map(|(name, token)| format!("{name} {}\n", token.reveal()));
            lines.collect::<String>()
        };
        let (_folder, path) = file_with(&lines(&[("ann", &one), ("bob", &two)]), 0o600);
        let known = NamedTokens::load(&path).unwrap();
        assert_eq!(known.names(), ["ann", "bob"]);
        for (token, name) in [(&one, Some("ann")), (&two, Some("bob")), (&other, None)] {
            assert_eq!(known.name_of(token).as_deref(), name);
        }
        let (_folder, path) = file_with("# nobody\n", 0o600);
        assert!(NamedTokens::load(&path).unwrap().names().is_empty());
        for (text, words) in [
            (lines(&[("ann", &one), ("ann", &two)]), "line 2 has a name"),
            (lines(&[("ann", &one), ("bob", &one)]), "line 2 has a name"),
            (lines(&[("../ann", &one)]), "line 1 has no name"),
            (one.reveal().to_owned(), "line 1 is none"),
            ("ann secret".to_owned(), "line 1 has no token"),
        ] {
            let (_folder, path) = file_with(&text, 0o600);
            let error = NamedTokens::load(&path).unwrap_err().to_string();
            assert!(
                error.contains(words) && !error.contains("secret"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_token_file_that_all_may_read_is_refused() {
        let token = Token::generate().unwrap();
        let (_folder, path) = file_with(token.reveal(), 0o644);
        for error in [
            Token::read(&path).unwrap_err(),
            TokenFile::load(&path).unwrap_err(),
        ] {
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn a_token_is_written_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::generate().unwrap();
        token.write_new(&path).unwrap();
        assert!(token.hash().is_of(&Token::read(&path).unwrap()));
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        token.write_new(&path).unwrap_err();
    }

    #[test]
    fn a_file_without_one_token_says_which_line_is_wrong() {
        let token = Token::generate().unwrap();
        let token = token.reveal();
        for (text, words) in [
            (String::new(), "it has none"),
            (format!("{token}\nsecret\n"), "line 2 is none"),
            (format!("{token}\n{token}\n"), "it has 2 lines"),
        ] {
            let (_folder, path) = file_with(&text, 0o600);
            let error = Token::read(&path).unwrap_err().to_string();
            assert!(
                error.contains(words) && !error.contains("secret"),
                "{error}"
            );
        }
        let (_folder, path) = file_with(&"\n".repeat(2 << 20), 0o600);
        let error = Token::read(&path).unwrap_err().to_string();
        assert!(error.contains("more than 1024 KiB"), "{error}");
    }

    #[test]
    fn a_token_crosses_no_network_in_plain_text_unless_that_is_allowed() {
        let token = Token::generate().unwrap();
        for (server, plaintext, expected) in [
            ("https://arena.example:5", false, true),
            ("http://127.0.0.1:5", false, true),
            ("http://localhost:5", false, true),
            ("http://arena.example:5", false, false),
            ("http://10.0.0.1:5", false, false),
            ("http://arena.example:5", true, true),
        ] {
            let server = server.parse().unwrap();
            let bearer = Bearer::new(&token, &server, plaintext);
            assert_eq!(bearer.is_ok(), expected, "{server}");
        }
    }
}
