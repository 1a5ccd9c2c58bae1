//! Fouls: what a bot does wrong, with the evidence. A foul is a result, never an `Err`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Language, clock::micros, printable};

/// The number of gRPC's status INTERNAL.
const INTERNAL: i32 = 13;

/// Most characters of a bot's text that are evidence.
pub(crate) const MOST_EVIDENCE: usize = 500;

/// A foul of a seat, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Foul {
    /// Nothing answers at the bot's address, or it could not be started.
    Unreachable {
        /// The attempt, and what came back.
        detail: String,
    },
    /// It did not answer the first question with `Ready`.
    NoStart {
        /// The event that happened instead.
        detail: String,
    },
    /// It does not implement this game.
    Unsupported {
        /// The message of the bot.
        detail: String,
    },
    /// Its process ended or its connection broke.
    Crashed {
        /// The way it ended, as far as this can be seen from outside.
        detail: String,
    },
    /// It closed the stream in the middle of the game.
    HungUp,
    /// A person gave up. It ends a seat's part as a foul does, and is none.
    Resigned,
    /// It ended the stream with an error status.
    ErrorStatus {
        /// The gRPC status code's number.
        code: i32,
        /// The status message.
        message: String,
    },
    /// Its answer can't be read.
    Malformed {
        /// Reason why it can't be read.
        detail: String,
    },
    /// Its answer names another question.
    WrongNumber {
        /// The question's number.
        expected: u32,
        /// The number in the answer.
        got: u32,
    },
    /// It spoke without being asked.
    Unsolicited {
        /// Number of bytes that it sent.
        bytes: usize,
    },
    /// Its answer is larger than allowed.
    Oversized {
        /// The limit in bytes.
        limit: usize,
    },
    /// It sent more than any answer needs: frames of HTTP/2 or bytes without end.
    Flooded {
        /// The excess that it sent.
        detail: String,
    },
    /// It was late just when the referee was delayed, too often for chance.
    Interfered {
        /// The number of times.
        detail: String,
    },
    /// Its process used more memory than allowed.
    MemoryExceeded {
        /// The most memory that was measured, less what it used when it was ready, in
        /// bytes.
        peak: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Its move is against the rules of the game.
    Illegal {
        /// The rule.
        reason: String,
    },
    /// It did not answer within the limit.
    Late {
        /// The time that it had.
        #[serde(rename = "limit_us", with = "micros")]
        limit: Duration,
    },
}

/// The kind of a foul, without the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants of Foul say what they are")]
pub enum FoulKind {
    Unreachable,
    NoStart,
    Unsupported,
    Crashed,
    HungUp,
    Resigned,
    ErrorStatus,
    Malformed,
    WrongNumber,
    Unsolicited,
    Oversized,
    Flooded,
    Interfered,
    MemoryExceeded,
    Illegal,
    Late,
}

impl Foul {
    /// The kind of this foul.
    #[must_use]
    pub const fn kind(&self) -> FoulKind {
        match self {
            Self::Unreachable { .. } => FoulKind::Unreachable,
            Self::NoStart { .. } => FoulKind::NoStart,
            Self::Unsupported { .. } => FoulKind::Unsupported,
            Self::Crashed { .. } => FoulKind::Crashed,
            Self::HungUp => FoulKind::HungUp,
            Self::Resigned => FoulKind::Resigned,
            Self::ErrorStatus { .. } => FoulKind::ErrorStatus,
            Self::Malformed { .. } => FoulKind::Malformed,
            Self::WrongNumber { .. } => FoulKind::WrongNumber,
            Self::Unsolicited { .. } => FoulKind::Unsolicited,
            Self::Oversized { .. } => FoulKind::Oversized,
            Self::Flooded { .. } => FoulKind::Flooded,
            Self::Interfered { .. } => FoulKind::Interfered,
            Self::MemoryExceeded { .. } => FoulKind::MemoryExceeded,
            Self::Illegal { .. } => FoulKind::Illegal,
            Self::Late { .. } => FoulKind::Late,
        }
    }

    /// This foul as one that was committed before the game began: a foul that is not a
    /// start foul becomes a [`NoStart`](Self::NoStart) with this foul as evidence.
    #[must_use]
    pub fn at_start(self) -> Self {
        match self {
            Self::Unreachable { .. } | Self::NoStart { .. } | Self::Unsupported { .. } => self,
            // Another game of the same process may have used the memory.
            Self::MemoryExceeded { .. } => self,
            Self::Late { limit } => Self::NoStart {
                detail: format!("no Ready within the start-up limit of {limit:?}"),
            },
            other => Self::NoStart {
                detail: other.to_string(),
            },
        }
    }

    /// Text from a bot as it may stand in a record, a log and a line of a terminal:
    /// [`printable`], and cut to a length that fits. Every text of a bot enters through
    /// this, but for the files that its output goes to.
    #[must_use]
    pub fn evidence(text: impl AsRef<str>) -> String {
        // What is printable is at least as long.
        let text = text.as_ref();
        let whole = text.char_indices().nth(MOST_EVIDENCE + 1);
        let mut text = printable(whole.map_or(text, |(end, _)| &text[..end]));
        if let Some((end, _)) = text.char_indices().nth(MOST_EVIDENCE) {
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// The text in it, if it has one.
    pub const fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Unreachable { detail }
            | Self::NoStart { detail }
            | Self::Unsupported { detail }
            | Self::Crashed { detail }
            | Self::Malformed { detail }
            | Self::Flooded { detail }
            | Self::Interfered { detail } => Some(detail),
            Self::ErrorStatus { message, .. } => Some(message),
            Self::Illegal { reason } => Some(reason),
            Self::HungUp
            | Self::Resigned
            | Self::WrongNumber { .. }
            | Self::Unsolicited { .. }
            | Self::Oversized { .. }
            | Self::MemoryExceeded { .. }
            | Self::Late { .. } => None,
        }
    }
}

/// A number of bytes as people read it.
fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

impl std::fmt::Display for Foul {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreachable { detail } => write!(f, "unreachable: {detail}"),
            Self::NoStart { detail } => write!(f, "did not start: {detail}"),
            Self::Unsupported { detail } => write!(f, "does not play this game: {detail}"),
            Self::Crashed { detail } => write!(f, "crashed: {detail}"),
            Self::HungUp => f.write_str("closed its stream before the game was over"),
            Self::Resigned => f.write_str("resigned"),
            // The status of every failure that a kit or an adapter reports: its number says nothing.
            Self::ErrorStatus {
                code: INTERNAL,
                message,
            } => f.write_str(message),
            Self::ErrorStatus { code, message } => {
                write!(f, "{message} (gRPC status {code})")
            }
            Self::Malformed { detail } => write!(f, "answer can't be read: {detail}"),
            Self::WrongNumber { expected, got } => {
                write!(f, "answered question {got} when asked question {expected}")
            }
            Self::Unsolicited { bytes } => write!(f, "spoke without being asked ({bytes} bytes)"),
            Self::Oversized { limit } => write!(f, "answer larger than {limit} bytes"),
            Self::Flooded { detail } => write!(f, "flooded its connection: {detail}"),
            Self::Interfered { detail } => write!(f, "interfered with the referee: {detail}"),
            // The system may refuse it before it is measured.
            Self::MemoryExceeded { peak, limit } if *peak <= limit + limit / 20 => {
                write!(f, "wanted more than {} of memory", size(*limit))
            }
            Self::MemoryExceeded { peak, limit } => {
                write!(
                    f,
                    "used {} of memory, allowed {}",
                    size(*peak),
                    size(*limit)
                )
            }
            Self::Illegal { reason } => write!(f, "illegal move: {reason}"),
            Self::Late { limit } => write!(f, "no answer within {limit:?}"),
        }
    }
}

impl FoulKind {
    /// Every kind, in the order in which they are declared.
    pub const ALL: [Self; 16] = [
        Self::Unreachable,
        Self::NoStart,
        Self::Unsupported,
        Self::Crashed,
        Self::HungUp,
        Self::Resigned,
        Self::ErrorStatus,
        Self::Malformed,
        Self::WrongNumber,
        Self::Unsolicited,
        Self::Oversized,
        Self::Flooded,
        Self::Interfered,
        Self::MemoryExceeded,
        Self::Illegal,
        Self::Late,
    ];

    /// Its name in one or two words, for tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::NoStart => "no start",
            Self::Unsupported => "unsupported",
            Self::Crashed => "crashed",
            Self::HungUp => "hung up",
            Self::Resigned => "resigned",
            Self::ErrorStatus => "error status",
            Self::Malformed => "malformed",
            Self::WrongNumber => "wrong number",
            Self::Unsolicited => "unsolicited",
            Self::Oversized => "oversized",
            Self::Flooded => "flooded",
            Self::Interfered => "interfered",
            Self::MemoryExceeded => "memory",
            Self::Illegal => "illegal",
            Self::Late => "late",
        }
    }

    /// The same in this language.
    #[must_use]
    pub const fn words_in(self, language: Language) -> &'static str {
        let chinese = match self {
            Self::Unreachable => "无法连接",
            Self::NoStart => "未能启动",
            Self::Unsupported => "不支持此游戏",
            Self::Crashed => "崩溃",
            Self::HungUp => "中断连接",
            Self::Resigned => "认输",
            Self::ErrorStatus => "返回错误",
            Self::Malformed => "消息无法解析",
            Self::WrongNumber => "答非所问",
            Self::Unsolicited => "未被询问就回答",
            Self::Oversized => "回答过长",
            Self::Flooded => "消息过多",
            Self::Interfered => "干扰计时",
            Self::MemoryExceeded => "超出内存限制",
            Self::Illegal => "着法不合法",
            Self::Late => "超时",
        };
        language.pick(self.words(), chinese)
    }

    /// True if it was committed before the game began.
    #[must_use]
    pub const fn is_start(self) -> bool {
        match self {
            Self::Unreachable | Self::NoStart | Self::Unsupported => true,
            Self::Crashed
            | Self::HungUp
            | Self::Resigned
            | Self::ErrorStatus
            | Self::Malformed
            | Self::WrongNumber
            | Self::Unsolicited
            | Self::Oversized
            | Self::Flooded
            | Self::Interfered
            | Self::MemoryExceeded
            | Self::Illegal
            | Self::Late => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_kind() {
        // A new kind does not compile here; then it belongs into the list too.
        let place = |kind| match kind {
            FoulKind::Unreachable => 0,
            FoulKind::NoStart => 1,
            FoulKind::Unsupported => 2,
            FoulKind::Crashed => 3,
            FoulKind::HungUp => 4,
            FoulKind::Resigned => 5,
            FoulKind::ErrorStatus => 6,
            FoulKind::Malformed => 7,
            FoulKind::WrongNumber => 8,
            FoulKind::Unsolicited => 9,
            FoulKind::Oversized => 10,
            FoulKind::Flooded => 11,
            FoulKind::Interfered => 12,
            FoulKind::MemoryExceeded => 13,
            FoulKind::Illegal => 14,
            FoulKind::Late => 15,
        };
        assert!(
            FoulKind::ALL
                .into_iter()
                .map(place)
                .eq(0..FoulKind::ALL.len())
        );
    }

    #[test]
    fn evidence_is_one_line_that_fits() {
        assert_eq!(Foul::evidence("no\u{1b}[31m\nway"), r"no\u{1b}[31m\nway");
        let most = "y".repeat(500);
        assert_eq!(Foul::evidence(&most), most);
        let cut = Foul::evidence(most.clone() + "y");
        assert_eq!(cut, most.clone() + "…");
        assert_eq!(Foul::evidence("\u{202e}".repeat(500)).chars().count(), 501);
        // It is evidence already.
        assert_eq!(Foul::evidence(&cut), cut);
    }
}
