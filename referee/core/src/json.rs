//! JSON that somebody else wrote: read within bounds.

use serde::de::DeserializeOwned;

use crate::expected_words;

/// Bounds of a JSON text. Its size alone bounds too little: in memory each `0,` may
/// take 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonBounds {
    /// The most bytes.
    pub bytes: usize,
    /// Deepest nesting of arrays and objects.
    pub depth: usize,
    /// The most values: items of arrays, members of objects.
    pub values: usize,
}

/// Reason why a text was not read.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// It has too many bytes.
    #[error("expected at most {most} bytes of JSON, found {found}")]
    Bytes {
        /// Most bytes that it may have.
        most: usize,
        /// Number of bytes that it has.
        found: usize,
    },
    /// Its arrays and objects lie too deep in each other.
    #[error("expected JSON of at most {0} levels of arrays and objects")]
    Depth(usize),
    /// It has too many values.
    #[error("expected JSON of at most {0} values")]
    Values(usize),
    /// It is no JSON, or not of the kind that was expected.
    #[error("{}", expected_words(&.0.to_string()))]
    Content(#[from] serde_json::Error),
}

impl JsonBounds {
    /// For one set-up.
    pub const SETUP: Self = Self {
        bytes: 64 * 1024,
        depth: 16,
        values: 10_000,
    };

    /// Reads a text that keeps to the bounds.
    ///
    /// # Errors
    ///
    /// [`JsonError`]
    pub fn read<T: DeserializeOwned>(self, text: &[u8]) -> Result<T, JsonError> {
        self.check(text)?;
        Ok(serde_json::from_slice(text)?)
    }

    /// Checks that a text keeps to the bounds. That it is JSON is not checked.
    ///
    /// # Errors
    ///
    /// [`JsonError`] says which bound it breaks.
    pub fn check(self, text: &[u8]) -> Result<(), JsonError> {
        if text.len() > self.bytes {
            return Err(JsonError::Bytes {
                most: self.bytes,
                found: text.len(),
            });
        }
        let (mut depth, mut values) = (0_usize, 1_usize);
        let mut left = text.iter();
        while let Some(byte) = left.next() {
            match byte {
                b'"' => skip_string(&mut left),
                b'[' | b'{' => {
                    depth += 1;
                    values += 1;
                }
                b']' | b'}' => depth = depth.saturating_sub(1),
                b',' => values += 1,
                _ => {}
            }
            if depth > self.depth {
                return Err(JsonError::Depth(self.depth));
            }
            if values > self.values {
                return Err(JsonError::Values(self.values));
            }
        }
        Ok(())
    }
}

/// Goes past the quotation mark that ends a string.
fn skip_string(left: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = left.find(|byte| matches!(byte, b'"' | b'\\')) {
        if *byte == b'"' {
            return;
        }
        left.next();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const FEW: JsonBounds = JsonBounds {
        bytes: 100,
        depth: 2,
        values: 6,
    };

    #[test]
    fn what_is_within_the_bounds_is_read() {
        for text in [
            r#"{"a": [1, 2, 3]}"#,
            r#"["[[[[,,,,,,,", "\"[[[,,,,,,,\\"]"#,
            "17",
            r#"{}"#,
        ] {
            let value: Value = FEW.read(text.as_bytes()).unwrap();
            assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        }
        let value: Value = FEW.read(br#"["\\", 1]"#).unwrap();
        assert_eq!(value, json!(["\\", 1]));
    }

    #[test]
    fn what_is_beyond_a_bound_is_not_parsed() {
        let why = |text: &str| FEW.read::<Value>(text.as_bytes()).unwrap_err().to_string();
        // None of these is JSON: a parser would say so.
        let long = format!("x{}", " ".repeat(100));
        assert_eq!(why(&long), "expected at most 100 bytes of JSON, found 101");
        assert!(why("[[[x").contains("at most 2 levels"));
        assert!(why("[1,1,1,1,1,1,x").contains("at most 6 values"));
        assert!(why("[{},{},{},x").contains("at most 6 values"));
        assert!(why("[1,").contains("EOF"));
        assert!(why(r#"["\"#).contains("EOF"));
    }
}
