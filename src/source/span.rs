//! Where something stands: a file and a byte range.

/// A file of this run. Numbers follow the order of the paths, so they are the same whatever the thread count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A byte range in one file, `start` included and `end` not.
///
/// Lines and columns exist only in the reports: see [`super::line_index::LineIndex`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The span of `start..end` in `file`. Files of 4 GiB and more are never read, so the offsets fit.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The empty span before the first byte of `file`, for what concerns the file as a whole.
    pub fn start_of(file: FileId) -> Self {
        Self { file, start: 0, end: 0 }
    }

    /// The byte range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether `other` lies inside this span.
    pub fn contains(self, other: Span) -> bool {
        self.file == other.file && self.start <= other.start && other.end <= self.end
    }

    /// From the start of this span to the end of `other` (same file; else this span).
    /// Where the other lies before it, as what a macro brings does behind what it is given, it is the other.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        if other.end < self.start {
            return other;
        }
        Span { end: self.end.max(other.end), ..self }
    }
}
