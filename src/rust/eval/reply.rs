//! What a function gives back to whoever called it over the network, once its own call has failed for good.

use super::value::{Kind, Value};
use crate::model::Answer;

/// The answer, or the sure knowledge that it cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Known(Answer),
    NotKnown,
}

/// What a value is as an answer.
pub(crate) fn of(value: &Value<'_>) -> Option<Reply> {
    Some(match answer(value, 3) {
        Some(answer) => Reply::Known(answer),
        None => Reply::NotKnown,
    })
}

fn answer(value: &Value<'_>, depth: u8) -> Option<Answer> {
    if depth == 0 {
        return None;
    }
    match &value.kind {
        Kind::Status(status) => Some(status_answer(*status)),
        Kind::Variant(v) => match (&*v.name, v.fields.first()) {
            ("Err", Some((_, error))) => match answer(error, depth - 1)? {
                Answer::Success => None,
                status => Some(status),
            },
            ("Ok", Some((_, inner))) => Some(answer(inner, depth - 1).unwrap_or(Answer::Success)),
            _ => None,
        },
        Kind::Object(object) if object.ty.is_none() => {
            let first = object.fields.borrow().first().map(|(_, v)| v.clone())?;
            match first.kind {
                Kind::Status(status) => Some(status_answer(status)),
                _ => None,
            }
        }
        Kind::Unit | Kind::Text(_) | Kind::Int(_) | Kind::Bool(_) | Kind::Float(_) => {
            // A plain value as an error says nothing of a status.
            (depth == 3 || depth == 2).then_some(Answer::Success)
        }
        _ => None,
    }
}

fn status_answer(status: u16) -> Answer {
    if status < 400 { Answer::Success } else { Answer::Status(status) }
}
