//! Running a crate's retry: the call is made again as the crate would.

use std::sync::Arc;

use super::episode::Repeater;
use super::machine::{Eval, Exit, Machine, Stop};
use super::value::{Value, Why};
use crate::model::Attempts;
use crate::rust::crates::Described;

/// Tries that are run; those after them are like them, and only counted.
const RUN_TRIES: u64 = 40;

/// Makes the call.
pub(crate) type Call<'f, 'a, 'c> = &'f mut dyn FnMut(&mut Machine<'a, 'c>) -> Eval<'a>;

/// Whether it is made again after this result.
pub(crate) type Again<'f, 'a, 'c> = &'f mut dyn FnMut(&mut Machine<'a, 'c>, &Value<'a>) -> Result<bool, Exit<'a>>;

impl<'a, 'c> Machine<'a, 'c> {
    /// Calls until there is no reason to call again, or no try left.
    pub(crate) fn repeat(
        &mut self,
        described: Arc<Described>,
        call: Call<'_, 'a, 'c>,
        again: Again<'_, 'a, 'c>,
    ) -> Eval<'a> {
        self.open_episode(Repeater::Library(described.clone()));
        let result = self.tries(&described, call, again);
        self.close_episode();
        result
    }

    fn tries(&mut self, described: &Described, call: Call<'_, 'a, 'c>, again: Again<'_, 'a, 'c>) -> Eval<'a> {
        let attempts = described.attempts.value().copied();
        let most = attempts.and_then(Attempts::count);
        let mut made = 0;
        loop {
            if !self.next_turn(!described.by_running) {
                return Err(Stop::Endless.into());
            }
            let result = call(self);
            made += 1;
            let result = match result {
                Ok(value) => value,
                Err(exit) => {
                    if let super::machine::Flow::Expired(number) = *exit
                        && let Some(limit) = self.limit_of(number)
                    {
                        self.expire(limit);
                    }
                    return Err(exit);
                }
            };
            if self.discovering() {
                // The predicate may hold calls of its own.
                again(self, &result)?;
                return Ok(result);
            }
            if !again(self, &result)? {
                return Ok(result);
            }
            if described.by_running {
                continue;
            }
            if most.is_some_and(|most| made >= most) {
                self.exhausted(0);
                return Ok(result);
            }
            if made >= RUN_TRIES || made >= 2 && self.brief || attempts.is_none() && made >= 4 {
                let rest = most.map_or(0, |most| most - made);
                self.exhausted(rest);
                return match attempts {
                    Some(Attempts::Unbounded) => Err(Stop::Endless.into()),
                    _ => Ok(result),
                };
            }
            let nominal = described.wait.nominal(u32::try_from(made - 1).unwrap_or(u32::MAX));
            let wait = match nominal {
                Some(wait) => Value::seconds(wait.as_secs_f64()),
                None => Value::unknown(3, Why::Other("is set outside of the code read")),
            };
            let wait = self.next_wait.take().unwrap_or(wait);
            self.sleep(&wait, described.opens)?;
        }
    }
}
