//! Parts of set-ups that are lists in JSON, and lines in the notation of a game.

use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error as _};
use serde_json::Value;

/// Reads a list, a line in the notation of the game, or nothing. A number is a line of one.
pub(crate) fn list_or_line<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
    read_line: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    match Value::deserialize(from)? {
        Value::Null => Ok(None),
        Value::String(line) => read_line(&line).map(Some).map_err(D::Error::custom),
        Value::Number(number) => read_line(&number.to_string())
            .map(Some)
            .map_err(D::Error::custom),
        list => serde_json::from_value(list)
            .map(Some)
            .map_err(D::Error::custom),
    }
}
