//! One file that plays a game by itself, without a script: each version of a part is visible for
//! some of the time.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    ops::Range,
    time::Duration,
};

use crate::picture::{Picture, PicturePart, opening, size_of_all};

/// For how many frames the last one stays longer.
const PAUSE: usize = 3;

/// An SVG file that shows these pictures one after another, each for this long, again and again.
/// What does not change is in it once. A reader that plays no animations, or whose owner wants
/// none, shows the last picture.
#[must_use]
pub fn animated(frames: &[Picture], frame: Duration, title: &str) -> String {
    let mut parts: BTreeMap<_, Vec<(Range<usize>, &PicturePart)>> = BTreeMap::new();
    for (at, picture) in frames.iter().enumerate() {
        for part in &picture.parts {
            let versions = parts.entry(part.order).or_default();
            match versions.last_mut() {
                Some((range, last)) if range.end == at && last.svg == part.svg => {
                    range.end = at + 1;
                }
                _ => versions.push((at..at + 1, part)),
            }
        }
    }

    let mut drawn = String::new();
    let mut ranges = BTreeSet::new();
    for (range, part) in parts.values().flatten() {
        let svg = without_id(&part.svg);
        if *range == (0..frames.len()) {
            drawn.push_str(&svg);
            continue;
        }
        ranges.insert((range.start, range.end));
        let hidden = if range.end < frames.len() {
            r#" visibility="hidden""#
        } else {
            ""
        };
        let _ = write!(
            drawn,
            r#"<g class="{}"{hidden}>{svg}</g>"#,
            class(range.start, range.end)
        );
    }

    let (width, height) = size_of_all(frames);
    let rules = rules(&ranges, frames.len(), frame);
    let mut file = opening(width, height, title, &rules);
    file.push_str(&drawn);
    file.push_str("</svg>\n");
    file
}

fn class(start: usize, end: usize) -> String {
    format!("f{start}-{end}")
}

/// When which range of frames is visible.
fn rules(ranges: &BTreeSet<(usize, usize)>, frames: usize, frame: Duration) -> String {
    let all = frames + PAUSE;
    let percent = |at: usize| format!("{:.3}%", at as f64 * 100.0 / all as f64);
    let seconds = frame.as_secs_f64() * all as f64;
    let mut rules = String::new();
    for &(start, end) in ranges {
        let class = class(start, end);
        let _ = write!(rules, "@keyframes {class} {{ ");
        if start > 0 {
            rules.push_str("0% { visibility: hidden } ");
        }
        let _ = write!(rules, "{} {{ visibility: visible }} ", percent(start));
        if end < frames {
            let _ = write!(rules, "{} {{ visibility: hidden }} ", percent(end));
        }
        let _ = writeln!(
            rules,
            "}}\n.{class} {{ animation: {class} {seconds:.3}s step-end infinite }}"
        );
    }
    rules
        .push_str("@media (prefers-reduced-motion: reduce) { g { animation: none !important } }\n");
    rules
}

/// A part of which there can be several versions in a file.
fn without_id(svg: &str) -> String {
    svg.strip_prefix(r#"<g id=""#)
        .and_then(|rest| rest.split_once('"'))
        .map_or_else(|| svg.to_owned(), |(_, rest)| format!("<g{rest}"))
}
