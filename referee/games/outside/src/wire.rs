//! The game's messages: only this file writes them, and reads answers.

use prost::Message;
use referee_core::{Malformed, Observation, Wire};

use crate::{
    proto::{self, NimAnswer, NimCall, RequestTake, nim_answer::Answer, nim_call::Call},
    rules::{Never, Nim, Question},
};

impl Wire for Nim {
    const PATH: &'static str = "/games.nim.v1.NimBot/Play";

    fn write_start(sight: &Observation<'_, Self>, out: &mut Vec<u8>) {
        let call = NimCall {
            heap: Some(proto::Heap {
                counters: sight.public().left.into(),
            }),
            ..NimCall::default()
        };
        append(&call, out);
    }

    fn write_notice(_: &Observation<'_, Self>, notice: Never, _: &mut Vec<u8>) {
        match notice {}
    }

    fn write_question(sight: &Observation<'_, Self>, _: Question, out: &mut Vec<u8>) {
        let call = NimCall {
            call: Some(Call::RequestTake(RequestTake {
                left: sight.public().left.into(),
            })),
            ..NimCall::default()
        };
        append(&call, out);
    }

    fn read_answer(_: Question, bytes: &[u8]) -> Result<u8, Malformed> {
        let message = NimAnswer::decode(bytes).map_err(|error| Malformed(error.to_string()))?;
        match message.answer {
            // More than 255 is as illegal as 255.
            Some(Answer::Take(taken)) => Ok(u8::try_from(taken).unwrap_or(u8::MAX)),
            found => Err(Malformed(format!("expected take, found {found:?}"))),
        }
    }

    fn write_answer(taken: &u8, out: &mut Vec<u8>) {
        let answer = NimAnswer {
            number: None,
            answer: Some(Answer::Take((*taken).into())),
        };
        append(&answer, out);
    }

    fn notation(taken: &u8) -> String {
        taken.to_string()
    }
}

fn append(message: &impl Message, out: &mut Vec<u8>) {
    message.encode(out).expect("a vector has room");
}
