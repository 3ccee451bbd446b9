//! Hand-made models for tests: files, and layers and paths that stand in them.

use std::sync::Arc;
use std::time::Duration;

use crate::model::{
    Advice, Attempts, Conditions, Confidence, Jitter, Layer, LayerIx, LayerKind, Methods, Mode, ModeSet, Model, Path,
    Purpose, Scope, Setting, Wait, WorstTime,
};
use crate::rules::Permissions;
use crate::run::Run;
use crate::source::{FileId, SourceFile, Sources, Span};

/// A run in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) sources: Sources,
    pub(crate) model: Model,
}

impl Draft {
    pub(crate) fn new() -> Self {
        Self { sources: Sources::default(), model: Model { max_amplification: 10, ..Model::default() } }
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, path: &str, text: &str) -> FileId {
        let id = FileId(self.sources.iter().count() as u32);
        self.sources.insert(SourceFile { id, path: Arc::from(path), text: Arc::from(text) });
        id
    }

    /// The place of the only occurrence of `needle` in `file`.
    pub(crate) fn span(&self, file: FileId, needle: &str) -> Span {
        let text = &self.sources.get(file).expect("a file of this draft").text;
        let mut hits = text.match_indices(needle);
        let (start, _) = hits.next().unwrap_or_else(|| panic!("{needle:?} is not in the file"));
        assert!(hits.next().is_none(), "{needle:?} is in the file twice");
        Span::new(file, start, start + needle.len())
    }

    /// Adds a layer that stands at `place`: three attempts, written there, waits that grow and are spread, statuses
    /// that can succeed later. Nothing fires about it.
    pub(crate) fn layer(&mut self, name: &str, place: Span) -> &mut Layer {
        let second = Duration::from_secs(1);
        let cap = Duration::from_secs(30);
        self.model.layers.push(Layer {
            id: Arc::from(name),
            system: "rust",
            kind: LayerKind::Code,
            name: name.to_string(),
            reading: format!("`reading` of {name}"),
            place,
            opens: place,
            component: None,
            scope: Scope::Code,
            attempts: Setting::written(Attempts::Count(3), place),
            asked_for: true,
            wait: Wait::Exponential {
                base: Setting::written(second, place),
                factor: Setting::written(2.0, place),
                cap: Setting::written(Some(cap), place),
            },
            wait_place: None,
            jitter: Setting::written(Jitter::Full, place),
            retries: Conditions {
                yes: ModeSet::statuses([502, 503, 504]).union(ModeSet::transport()),
                ..Conditions::default()
            },
            retry_after: Setting::written(true, place),
            methods: Methods::Unknown,
            per_try: None,
            overall: None,
            budget: None,
            labels: Vec::new(),
            advice: all_advice(),
            copies: false,
            elsewhere: false,
            purpose: Purpose::Request,
            confidence: Confidence::High,
        });
        self.model.layers.last_mut().expect("just pushed")
    }

    /// Adds a layer to an empty file of its own, for tests that look at no text.
    pub(crate) fn any_layer(&mut self, name: &str) -> &mut Layer {
        let file = self.file(name, "0123456789");
        self.layer(name, Span::new(file, 0, 4))
    }

    /// Adds a path through these layers (numbered as they were added), with the product of their attempts.
    pub(crate) fn path(&mut self, leaf: &str, failure: Mode, layers: &[u32]) -> &mut Path {
        let layers: Vec<LayerIx> = layers.iter().copied().map(LayerIx).collect();
        let of = |ix: &LayerIx| self.model.layer(*ix);
        let counts: Vec<Option<Attempts>> = layers.iter().map(|ix| of(ix).attempts.value().copied()).collect();
        let product = counts.iter().map(|a| a.and_then(Attempts::count).unwrap_or(1)).product();
        self.model.paths.push(Path {
            product,
            unbounded: counts.contains(&Some(Attempts::Unbounded)),
            at_least: counts.contains(&None),
            sustained: product as f64,
            failure,
            entry: Arc::from("gateway"),
            leaf: Arc::from(leaf),
            layers,
            hops: Vec::new(),
            time: WorstTime::default(),
        });
        self.model.paths.last_mut().expect("just pushed")
    }

    /// The run, checked by every rule.
    pub(crate) fn run(self) -> Run {
        let findings = crate::rules::check(&self.model, &Permissions::NONE);
        let files = self.sources.iter().count();
        Run { sources: self.sources, model: self.model, findings, files, ..Run::default() }
    }
}

fn all_advice() -> Advice {
    let say = |what: &str| Some(format!("set `{what}`"));
    Advice {
        none: say("none"),
        fewer: say("fewer"),
        limit: say("limit"),
        wait: say("wait"),
        grow: say("grow"),
        cap: say("cap"),
        jitter: say("jitter"),
        statuses: say("statuses"),
        retry_after: say("retry_after"),
        pass_on: None,
    }
}
