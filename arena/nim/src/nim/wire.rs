//! The game's messages: only this file writes them and reads answers.

use prost::Message;
use proto::{NimAnswer, NimCall, nim_answer::Answer, nim_call::Call};
use referee_core::{Malformed, Observation, Wire};

use super::rules::{Never, Nim, Question, Take};

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; the .proto file documents it"
)]
pub(super) mod proto {
    include!(concat!(env!("OUT_DIR"), "/games.nim.v1.rs"));
}

impl Wire for Nim {
    const PATH: &'static str = "/games.nim.v1.NimBot/Play";
    const DESCRIPTORS: &'static [u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let call = NimCall {
            beginning: Some(heaps(sight)),
            ..NimCall::default()
        };
        append(&call, out);
    }

    fn write_notice(_: &Observation<'_, Self>, notice: Never, _: &mut Vec<u8>) {
        match notice {}
    }

    fn write_question(sight: &Observation<'_, Self>, question: Question, out: &mut Vec<u8>) {
        let Question::Take = question;
        let call = NimCall {
            call: Some(Call::RequestTake(heaps(sight))),
            ..NimCall::default()
        };
        append(&call, out);
    }

    fn read_answer(question: Question, bytes: &[u8]) -> Result<Take, Malformed> {
        let Question::Take = question;
        let message = NimAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        match message.answer {
            Some(Answer::Take(proto::Take {
                heap: Some(heap),
                objects: Some(objects),
            })) => Ok(Take { heap, objects }),
            Some(Answer::Take(_)) => {
                Err(Malformed("`take` lacks its heap or its objects".to_owned()))
            }
            Some(Answer::Ready(_)) => Err(Malformed("expected `take`, found Ready".to_owned())),
            None => Err(Malformed("expected `take`, found nothing".to_owned())),
        }
    }

    fn write_answer(take: &Take, out: &mut Vec<u8>) {
        let answer = NimAnswer {
            number: None,
            answer: Some(Answer::Take(proto::Take {
                heap: Some(take.heap),
                objects: Some(take.objects),
            })),
        };
        append(&answer, out);
    }

    fn notation(take: &Take) -> String {
        format!("{}{}", letter(take.heap), take.objects)
    }
}

fn heaps(sight: &Observation<'_, Nim>) -> proto::Heaps {
    proto::Heaps {
        objects: sight
            .public()
            .heaps
            .iter()
            .copied()
            .map(u32::from)
            .collect(),
    }
}

/// The name of a heap: `a` for the first.
pub(super) fn letter(heap: u32) -> char {
    char::from_u32(u32::from('a') + heap).unwrap_or('?')
}

fn append(message: &impl Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector has room");
}
