//! The expressions of `buffering.retryExpression`: tests of the last answer, true as long as the request is sent again.

use crate::model::{Mode, ModeSet};

/// The proxy stops here, whatever the expression says.
const MAX_ATTEMPTS: u64 = 11;

/// What an expression comes to.
#[derive(Debug, PartialEq)]
pub(super) struct Reading {
    /// Tries in all.
    pub attempts: u64,
    /// What is tried again at all.
    pub modes: ModeSet,
    /// The methods of which requests are sent again.
    pub methods: Vec<&'static str>,
}

/// Methods whose requests have a body; without one nothing is sent again.
const METHODS: [&str; 3] = ["POST", "PUT", "PATCH"];

/// The largest count over all failures, and what is retried. `None` where it is no such expression.
pub(super) fn read(text: &str) -> Option<Reading> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let expression = parser.or()?;
    if parser.at < tokens.len() {
        return None;
    }
    let mut out = Reading { attempts: 1, modes: ModeSet::EMPTY, methods: Vec::new() };
    for mode in Mode::http() {
        // A refused connection and an answer that does not come get a status from the proxy itself.
        let code = match mode {
            Mode::Refused => 502,
            Mode::Timeout => 504,
            Mode::Status(code) => code.into(),
            Mode::Grpc(_) => continue,
        };
        for method in METHODS {
            let again = (1..MAX_ATTEMPTS).take_while(|&attempts| expression.holds(&Request { code, method, attempts }));
            let attempts = 1 + again.count() as u64;
            if attempts > 1 {
                out.attempts = out.attempts.max(attempts);
                out.modes.insert(mode);
                if !out.methods.contains(&method) {
                    out.methods.push(method);
                }
            }
        }
    }
    Some(out)
}

/// A request after a try.
struct Request {
    code: u64,
    method: &'static str,
    attempts: u64,
}

enum Expression {
    NetworkError,
    Number { of: Number, is: Comparison, value: u64 },
    Method { is: bool, name: String },
    Not(Box<Expression>),
    All(Vec<Expression>),
    Any(Vec<Expression>),
}

#[derive(Clone, Copy)]
enum Number {
    Attempts,
    Code,
}

type Comparison = fn(&u64, &u64) -> bool;

impl Expression {
    fn holds(&self, request: &Request) -> bool {
        match self {
            Self::NetworkError => matches!(request.code, 502 | 504),
            Self::Number { of: Number::Attempts, is, value } => is(&request.attempts, value),
            Self::Number { of: Number::Code, is, value } => is(&request.code, value),
            Self::Method { is, name } => (request.method == name) == *is,
            Self::Not(inner) => !inner.holds(request),
            Self::All(parts) => parts.iter().all(|p| p.holds(request)),
            Self::Any(parts) => parts.iter().any(|p| p.holds(request)),
        }
    }
}

#[derive(Debug, PartialEq)]
enum Token<'t> {
    Name(&'t str),
    Number(u64),
    Text(&'t str),
    Sign(&'t str),
}

/// Longer expressions are none that a person wrote.
const MAX_TOKENS: usize = 1_000;

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            '"' | '`' => {
                let inner = rest.get(1..)?.split(first).next()?;
                (Token::Text(inner), inner.len() + 2)
            }
            '0'..='9' => {
                let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                (Token::Number(rest.get(..len)?.parse().ok()?), len)
            }
            'a'..='z' | 'A'..='Z' => {
                let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                (Token::Name(rest.get(..len)?), len)
            }
            _ => {
                let signs = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")"];
                let sign = signs.into_iter().find(|s| rest.starts_with(s))?;
                (Token::Sign(sign), sign.len())
            }
        };
        if tokens.len() == MAX_TOKENS {
            return None;
        }
        tokens.push(token);
        rest = rest.get(len..)?.trim_start();
    }
    Some(tokens)
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    depth: usize,
}

const MAX_DEPTH: usize = 64;

impl<'t> Parser<'t> {
    fn next(&mut self) -> Option<&'t Token<'t>> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is = self.tokens.get(self.at) == Some(&Token::Sign(sign));
        self.at += usize::from(is);
        is
    }

    fn or(&mut self) -> Option<Expression> {
        let mut parts = vec![self.and()?];
        while self.takes("||") {
            parts.push(self.and()?);
        }
        Some(Expression::Any(parts))
    }

    fn and(&mut self) -> Option<Expression> {
        let mut parts = vec![self.unary()?];
        while self.takes("&&") {
            parts.push(self.unary()?);
        }
        Some(Expression::All(parts))
    }

    fn unary(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let out = if self.takes("!") {
            Expression::Not(Box::new(self.unary()?))
        } else if self.takes("(") {
            let inner = self.or()?;
            self.takes(")").then_some(inner)?
        } else {
            self.test()?
        };
        self.depth -= 1;
        Some(out)
    }

    /// A function, compared with a value unless it is a test itself.
    fn test(&mut self) -> Option<Expression> {
        let Token::Name(function) = self.next()? else { return None };
        if !(self.takes("(") && self.takes(")")) {
            return None;
        }
        if *function == "IsNetworkError" {
            return Some(Expression::NetworkError);
        }
        let Token::Sign(sign) = self.next()? else { return None };
        let value = self.next()?;
        match (*function, value) {
            ("Attempts", Token::Number(n)) => {
                Some(Expression::Number { of: Number::Attempts, is: comparison(sign)?, value: *n })
            }
            ("ResponseCode", Token::Number(n)) => {
                Some(Expression::Number { of: Number::Code, is: comparison(sign)?, value: *n })
            }
            ("RequestMethod", Token::Text(name)) if matches!(*sign, "==" | "!=") => {
                Some(Expression::Method { is: *sign == "==", name: (*name).to_string() })
            }
            _ => None,
        }
    }
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "==" => u64::eq,
        "!=" => u64::ne,
        "<" => u64::lt,
        "<=" => u64::le,
        ">" => u64::gt,
        ">=" => u64::ge,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(text: &str) -> Option<u64> {
        read(text).map(|r| r.attempts)
    }

    #[test]
    fn counts() {
        assert_eq!(attempts("IsNetworkError() && Attempts() <= 2"), Some(3));
        assert_eq!(attempts("IsNetworkError() && Attempts() < 2"), Some(2));
        assert_eq!(attempts("ResponseCode() == 503 && Attempts() < 3"), Some(3));
        assert_eq!(attempts("IsNetworkError()"), Some(11));
        assert_eq!(attempts("(Attempts() < 5 || ResponseCode() > 502) && ! IsNetworkError()"), Some(11));
        assert_eq!(attempts("Attempts() == 7"), Some(1));
    }

    #[test]
    fn what_is_retried() {
        let reading = read("IsNetworkError() && Attempts() <= 2").unwrap();
        assert_eq!(reading.modes.names(), ["refused", "timeout", "502", "504"]);
        assert_eq!(reading.methods, METHODS);
        let reading = read(r#"RequestMethod() == "PUT" && ResponseCode() >= 500"#).unwrap();
        assert_eq!(
            (reading.modes.names(), reading.methods),
            (vec!["refused".into(), "timeout".into(), "5xx".into()], vec!["PUT"])
        );
        let get = read(r#"RequestMethod() == "GET" && ResponseCode() == 503 && Attempts() < 3"#).unwrap();
        assert_eq!((get.attempts, get.modes.is_empty()), (1, true));
    }

    #[test]
    fn what_is_no_expression() {
        for text in ["", "IsNetworkError", "Attempts() <", "Attempts() < 2 &&", "Foo() == 1", "(", "\"", "é", "1 < 2"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"!".repeat(10_000)), None);
        assert_eq!(read(&"(".repeat(900)), None);
    }
}
