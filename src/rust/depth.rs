//! How deep a Rust text nests, measured on its tokens before anything recurses over it.
//!
//! Parsers, visitors and destructors of syntax trees recurse. A stack that runs out ends the process, and nothing
//! can catch that, so a text that is too deep must be refused unparsed. The measure never comes out smaller than the
//! depth of the tree (delimiters, generics, prefix operators, closures, and the chains that lean to one side:
//! operators, method calls, else-if), and it does not count what merely stands side by side.

use super::lex::{Kind, Lexer, Token};

/// The greatest depth that is parsed: levels of nesting plus links of chains, along the deepest line through the tree.
pub const MAX_DEPTH: u32 = 2_000;

/// The longest number that is parsed: reading a literal takes time that grows with the square of its length.
pub const MAX_NUMBER: usize = 4_096;

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The byte where the part begins that is too deep, or the number that is too long.
    pub at: usize,
    /// For a person.
    pub reason: String,
}

/// The depth of a text, or why it must not be parsed.
pub fn measure(source: &str) -> Result<u32, Refused> {
    let mut measure = Measure { frames: vec![Frame::new(0, false)], ..Measure::default() };
    let mut tokens = Lexer::new(source).peekable();
    while let Some(token) = tokens.next() {
        if token.kind == Kind::Number && token.end - token.start > MAX_NUMBER {
            let reason = format!("has a number of more than {MAX_NUMBER} digits");
            return Err(Refused { at: token.start, reason });
        }
        let next = tokens.peek().filter(|n| n.start == token.end).map(|n| n.kind);
        measure.token(token, token.text(source), next)?;
    }
    measure.finish()
}

/// One pair of delimiters, or of angle brackets, that is open.
#[derive(Debug, Clone, Default)]
struct Frame {
    /// Where it was opened.
    at: usize,
    /// Whether it is `<`: a comparison looks the same and is closed by whatever cannot stand in generics.
    angle: bool,
    /// Links of the chain since the last separator: operators, closures, else-ifs.
    links: u32,
    /// Prefixes and calls of the operand being read.
    operand: u32,
    /// The longest operand since the last separator.
    longest: u32,
    /// The deepest group since the last separator.
    child: u32,
    /// The deepest run between separators so far.
    deepest: u32,
    /// `links` and `operand` at the last `if`: where its `else` goes on.
    mark: Option<(u32, u32)>,
    /// Between the bars of a closure, where commas separate nothing.
    params: bool,
}

impl Frame {
    fn new(at: usize, angle: bool) -> Self {
        Self { at, angle, ..Self::default() }
    }

    fn fold_operand(&mut self) {
        self.longest = self.longest.max(self.operand);
        self.operand = 0;
    }

    fn link(&mut self) {
        self.links += 1;
        self.fold_operand();
    }

    fn flush(&mut self) -> u32 {
        self.deepest = self.deepest.max(self.links + self.longest.max(self.operand) + self.child);
        self.deepest
    }

    fn separate(&mut self) -> u32 {
        let deepest = self.flush();
        *self = Self { deepest, ..Self::new(self.at, self.angle) };
        deepest
    }
}

/// What the token before was, as far as it decides how the next one reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Before {
    /// Something an operand cannot end with: what follows is a prefix.
    #[default]
    Prefix,
    /// A name: `<` may open generics.
    Name,
    /// A literal: `<` compares.
    Literal,
    /// `)`, `]` or `?`: `<` compares, `(` calls the result of a call.
    Closed,
    /// `}`: a statement may begin.
    Brace,
}

impl Before {
    fn ends_operand(self) -> bool {
        self != Self::Prefix
    }
}

#[derive(Debug, Default)]
struct Measure {
    frames: Vec<Frame>,
    before: Before,
    /// The punctuation just read, if the next token touches it.
    touching: Option<u8>,
    /// The second half of an operator of two characters is still to come.
    skip: bool,
}

impl Measure {
    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last] // not empty: pushed above
    }

    fn check(depth: u32, at: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            return Err(Refused { at, reason: format!("nested deeper than {MAX_DEPTH} levels") });
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<(), Refused> {
        let Some(mut frame) = self.frames.pop() else { return Ok(()) };
        let depth = frame.flush() + 1;
        Self::check(depth, frame.at)?;
        let parent = self.top();
        parent.child = parent.child.max(depth);
        Ok(())
    }

    /// Closes what was opened by `<` and cannot have been generics, or has no `>` before the delimiter.
    fn close_angles(&mut self) -> Result<(), Refused> {
        while self.frames.len() > 1 && self.top().angle {
            self.pop()?;
        }
        Ok(())
    }

    fn separate(&mut self) -> Result<(), Refused> {
        let frame = self.top();
        let (depth, at) = (frame.separate(), frame.at);
        Self::check(depth, at)
    }

    fn finish(mut self) -> Result<u32, Refused> {
        while self.frames.len() > 1 {
            self.pop()?;
        }
        self.separate()?;
        Ok(self.top().deepest)
    }

    fn token(&mut self, token: Token, text: &str, next: Option<Kind>) -> Result<(), Refused> {
        let touching = self.touching.take();
        if self.before == Before::Brace && begins_statement(token.kind, text) {
            self.separate()?;
            self.before = Before::Prefix;
        }
        self.before = match token.kind {
            Kind::Ident => self.word(text)?,
            Kind::Lifetime => Before::Prefix,
            Kind::Str | Kind::Char | Kind::Number => Before::Literal,
            Kind::Open(b) => {
                self.open(token.start, b)?;
                Before::Prefix
            }
            Kind::Close(b) => {
                self.close_angles()?;
                if self.frames.len() > 1 {
                    self.pop()?;
                }
                if b == b'}' { Before::Brace } else { Before::Closed }
            }
            Kind::Punct(b) => {
                self.touching = next.is_some().then_some(b);
                self.punct(token.start, b, touching, next)?
            }
        };
        Ok(())
    }

    fn open(&mut self, at: usize, delimiter: u8) -> Result<(), Refused> {
        match delimiter {
            // A block in generics follows `<` or `,` directly; any other shows that a `<` before it compares.
            b'{' if self.before != Before::Prefix => self.close_angles()?,
            // The result of a call, or of an index, is called or indexed.
            b'(' | b'[' if matches!(self.before, Before::Closed | Before::Brace) => self.top().operand += 1,
            _ => {}
        }
        self.frames.push(Frame::new(at, false));
        Ok(())
    }

    fn word(&mut self, text: &str) -> Result<Before, Refused> {
        match text {
            "else" => {
                self.close_angles()?;
                let frame = self.top();
                frame.flush();
                if let Some((links, operand)) = frame.mark {
                    (frame.links, frame.operand, frame.longest, frame.child) = (links + 1, operand, 0, 0);
                }
            }
            "if" => {
                let frame = self.top();
                frame.mark = Some((frame.links, frame.operand));
                frame.link();
            }
            "match" | "while" | "in" | "return" | "break" | "yield" | "become" | "let" => self.top().link(),
            "as" => self.top().operand += 1,
            "for" | "loop" | "move" | "async" | "unsafe" | "static" | "const" | "dyn" | "impl" | "fn" | "mut"
            | "ref" | "where" | "box" | "pub" | "do" => {}
            _ => return Ok(Before::Name),
        }
        Ok(Before::Prefix)
    }

    fn punct(&mut self, at: usize, b: u8, touching: Option<u8>, next: Option<Kind>) -> Result<Before, Refused> {
        if std::mem::take(&mut self.skip) {
            return Ok(Before::Prefix);
        }
        let joins = |c: u8| next == Some(Kind::Punct(c));
        let ends_operand = self.before.ends_operand();
        let after_literal = self.before == Before::Literal;
        match b {
            b',' if self.top().params => {}
            b',' => self.separate()?,
            b';' => {
                self.close_angles()?;
                self.separate()?;
            }
            b'=' if joins(b'>') => {
                self.skip = true;
                self.close_angles()?;
                self.separate()?;
            }
            b'=' if touching.is_some_and(|t| b"=!<>+-*/%^&|.".contains(&t)) => {}
            b'-' if joins(b'>') => {
                self.skip = true;
                self.top().link();
            }
            b'.' if joins(b'.') => {
                self.skip = true;
                // Patterns have many ranges side by side: `'0'..='9' | 'a'..='f'`.
                let frame = self.top();
                if after_literal { frame.operand += 1 } else { frame.link() }
            }
            b'.' => self.top().operand += 1,
            b'?' => {
                self.top().operand += 1;
                return Ok(Before::Closed);
            }
            b':' if touching == Some(b':') => self.top().operand += 1,
            b'|' => self.bar(ends_operand, joins(b'|')),
            b'!' if ends_operand && !joins(b'=') => return Ok(self.before),
            b'*' | b'&' | b'-' | b'!' if !ends_operand => self.top().operand += 1,
            b'<' if joins(b'=') => self.top().link(),
            b'<' => self.less(at, joins(b'<'))?,
            b'>' if self.top().angle => {
                self.pop()?;
                return Ok(Before::Name);
            }
            b'+' | b'/' | b'%' | b'^' | b'=' | b'@' | b'*' | b'&' | b'-' | b'!' | b'>' => self.top().link(),
            _ => {}
        }
        Ok(Before::Prefix)
    }

    fn bar(&mut self, ends_operand: bool, doubled: bool) {
        let frame = self.top();
        frame.link();
        if frame.params {
            frame.params = false;
        } else if doubled {
            self.skip = true;
        } else if !ends_operand {
            frame.params = true;
        }
    }

    /// `<` after a literal or a call compares; `<<` there shifts. Anywhere else it may open generics.
    fn less(&mut self, at: usize, doubled: bool) -> Result<(), Refused> {
        if matches!(self.before, Before::Literal | Before::Closed) {
            self.skip = doubled;
            self.top().link();
        } else {
            self.frames.push(Frame::new(at, true));
        }
        Ok(())
    }
}

/// Whether the token after `}` begins anew, instead of going on with the expression that the brace ended.
fn begins_statement(kind: Kind, text: &str) -> bool {
    match kind {
        Kind::Ident => !matches!(text, "else" | "as"),
        Kind::Open(b) => b == b'{',
        Kind::Punct(b) => b == b'#',
        Kind::Close(_) => false,
        Kind::Lifetime | Kind::Str | Kind::Char | Kind::Number => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn depth(source: &str) -> u32 {
        measure(source).unwrap()
    }

    #[test]
    fn what_stands_side_by_side_is_not_deep() {
        for item in [
            "fn f() -> u8 { a.b().c(); }",
            "if a { b } match c { d => e, _ => f }",
            "x = a + b;",
            "let a: Vec<Vec<u8>> = b < c;",
            "while a < b { c(); }",
            "#[derive(A)] struct S<T>;",
            "'a: loop { break 'a; }",
            "|a, b| c;",
        ] {
            assert_eq!(depth(&item.repeat(5_000)), depth(&item.repeat(2)), "{item}");
        }
        for element in ["1 << 3,", "a + b,", "f(a),", "Foo { a: 1 },", "|x| x,", "'a'..='z' => 1,", "A if b < 3 => c,"]
        {
            let many = format!("fn f() {{ m {{ {} }} }}", element.repeat(5_000));
            assert!(depth(&many) < 20, "{element}: {}", depth(&many));
        }
    }

    #[test]
    fn each_link_of_a_chain_counts_once() {
        let if_else = |n| format!("fn f() {{ {} {{}} }}", "if a.b(c) == d && e { g() } else ".repeat(n));
        assert!(depth(&if_else(400)) < 420, "{}", depth(&if_else(400)));
        let sum = |n| format!("fn f() {{ x = {} z; }}", "\"a\".to_string() + &b.c(d) + ".repeat(n));
        assert!(depth(&sum(250)) < 515, "{}", depth(&sum(250)));
        let builder = |n| format!("fn f() {{ x {}; }}", ".set(Duration::from_secs(1), |a, b| a + b)".repeat(n));
        assert!(depth(&builder(300)) < 315, "{}", depth(&builder(300)));
    }

    #[test]
    fn everything_that_recurses_counts() {
        let n = 300;
        for (before, middle, after) in [
            ("(", "x", ")"),
            ("[", "x", "]"),
            ("{", "x", "}"),
            ("A<", "x", ">"),
            ("A<B, &C<", "x", ">>"),
            ("A < B, ", "x", " >"),
            ("<<A as B>::C as ", "x", ">"),
            ("&", "x", ""),
            ("*", "x", ""),
            ("!", "x", ""),
            ("-", "x", ""),
            ("&'a ", "x", ""),
            ("*const ", "x", ""),
            ("x + ", "x", ""),
            ("x && ", "x", ""),
            ("", "x", ".a"),
            ("", "x", ".a()"),
            ("", "x", "()"),
            ("", "x", "[0]"),
            ("", "x", "?"),
            ("", "x", ".await"),
            ("", "x", " as u8"),
            ("|| ", "x", ""),
            ("|a| ", "x", ""),
            ("|a, b| ", "x", ""),
            ("|a||", "x", ""),
            ("move |a, b| ", "x", ""),
            ("return ", "x", ""),
            ("break 'a ", "x", ""),
            ("if a {} else ", "{}", ""),
            ("if a.b {} else if c < d {} else ", "{}", ""),
            ("if ", "x", " {}"),
            ("match ", "x", " {}"),
            ("while ", "x", " {}"),
            ("for a in ", "x", " {}"),
            ("a = ", "x", ""),
            ("a += ", "x", ""),
            ("..", "x", ""),
            ("a @ ", "x", ""),
            ("fn() -> ", "x", ""),
            ("impl Fn(A) -> ", "x", ""),
            ("A::", "x", ""),
            ("|a, b| if c {} else {} + ", "x", ""),
            ("match a {} + ", "x", ""),
            ("1..", "x", ""),
        ] {
            let source = format!("fn f() {{ {}{middle}{} }}", before.repeat(n), after.repeat(n));
            assert!(depth(&source) >= n as u32, "{before}..{after}: {}", depth(&source));
        }
    }

    #[test]
    fn what_is_too_deep_is_refused_where_it_begins() {
        let refused = measure(&format!("fn f() {{ {} }}", "(".repeat(100_000))).unwrap_err();
        assert!(refused.reason.contains("2000"), "{}", refused.reason);
        assert!(refused.at >= 9);
        let refused = measure(&format!("const A: u8 = {};", "1".repeat(MAX_NUMBER + 1))).unwrap_err();
        assert_eq!(refused.at, 14);
    }

    #[test]
    fn text_that_is_no_rust_is_measured_too() {
        for source in ["", ">>>>>", "}}}}", "((((", "<<<<", "|||||", "'", "\"", "/*", "=>=>", "else else", "\0\u{1}"] {
            assert!(depth(source) < 10, "{source}");
        }
    }
}
