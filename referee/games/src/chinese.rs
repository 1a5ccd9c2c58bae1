//! Why a game ended, in Chinese. Records have it in English.

/// The reason of an [outcome](referee_core::Outcome) in Chinese; the reason itself where it is not
/// known here.
#[must_use]
pub fn chinese_reason(reason: &str) -> String {
    let known = match reason {
        "forfeit" => "对方弃权",
        "both forfeited" => "双方弃权",
        "all four forfeited" => "四家弃权",
        "four in a line" => "四子连线",
        "the board is full" => "棋盘已满",
        "the wall is empty" => "流局",
        "one seat was left in play" => "只剩一家未出完",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_owned();
    }
    let won = || {
        let (faan, rest) = reason.split_once(" faan with ")?;
        let (tile, how) = rest.split_once(" by ")?;
        let how = match how {
            "self draw" => "自摸",
            _ => "点炮",
        };
        Some(format!("{faan} 番，{how} {tile}"))
    };
    let out = || {
        let seat = reason.strip_prefix("seat ")?;
        let seat = seat.strip_suffix(" has no cards left")?;
        Some(format!("座位 {seat} 已出完"))
    };
    let discs = || {
        let (black, white) = reason.strip_prefix("Black ")?.split_once(", White ")?;
        let (white, count) = match white.split_once("; with the empty squares ") {
            Some((white, count)) => (white, Some(count.split_once(" to ")?)),
            None => (white, None),
        };
        let count = count.map_or_else(String::new, |(black, white)| {
            format!("；空格归胜方后 {black} 比 {white}")
        });
        Some(format!("黑 {black}，白 {white}{count}"))
    };
    let found = won().or_else(out).or_else(discs);
    found.unwrap_or_else(|| reason.to_owned())
}
