//! The queries that pick the records to delete, and the common tables they go through.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::mem::discriminant;
use std::rc::Rc;

use sqlparser::ast::{
    Expr, Function, GroupByExpr, LimitClause, Query, Select, SelectItem, SetExpr, Statement, TableFactor,
    TableWithJoins, WindowType,
};

use super::age;
use super::conditions::{self, Says};
use super::names;
use super::tables::Tables;

/// What a query says about the records that it picks.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) says: Vec<Says>,
    /// LIMIT, OFFSET, TOP, FETCH FIRST, TABLESAMPLE.
    pub(super) is_limited: bool,
    pub(super) is_ordered: bool,
    /// It selects a MIN or MAX.
    pub(super) is_extreme: bool,
    pub(super) is_grouped: bool,
}

impl Asked {
    fn unclear() -> Self {
        Self { says: vec![Says::Unclear], ..Self::default() }
    }

    /// The same with nothing said twice: of several statuses the first counts.
    fn once(mut self) -> Self {
        let mut kinds = Vec::new();
        self.says.retain(|says| {
            let is_new = !kinds.contains(&discriminant(says));
            kinds.extend(is_new.then(|| discriminant(says)));
            is_new
        });
        self
    }
}

/// What a statement's conditions are read with.
pub(super) struct Scope<'s> {
    pub(super) tables: &'s Tables,
    /// The table whose records go.
    pub(super) table: String,
    /// Common tables by their names.
    pub(super) ctes: &'s BTreeMap<String, &'s Query>,
    /// Columns that number rows, and whether they number those of one message.
    pub(super) ranks: &'s BTreeMap<String, bool>,
    /// What the common tables said that were asked; nothing yet of one that is being asked, as it refers to itself.
    asked: Rc<RefCell<BTreeMap<String, Option<Asked>>>>,
    /// How many queries deep we are.
    depth: usize,
}

/// Queries within queries: deeper ones are not looked into.
const MAX_QUERIES: usize = 16;

impl<'s> Scope<'s> {
    pub(super) fn new(
        tables: &'s Tables,
        table: String,
        ctes: &'s BTreeMap<String, &'s Query>,
        ranks: &'s BTreeMap<String, bool>,
    ) -> Self {
        Self { tables, table, ctes, ranks, asked: Rc::default(), depth: 0 }
    }

    /// Whether a column of the table holds a time.
    pub(super) fn is_time(&self, column: &str) -> bool {
        self.tables.is_time(&self.table, column)
    }

    /// What a query says about the records that it picks.
    pub(super) fn ask(&self, query: &Query) -> Asked {
        if self.depth >= MAX_QUERIES {
            return Asked::unclear();
        }
        let inner = Scope { table: self.table.clone(), asked: Rc::clone(&self.asked), depth: self.depth + 1, ..*self };
        let mut asked = inner.body(&query.body);
        asked.is_limited |= query.fetch.is_some() || query.limit_clause.as_ref().is_some_and(is_bounded);
        asked.is_ordered |= query.order_by.is_some();
        asked
    }

    /// What a common table says: each is asked once, however often it is mentioned.
    fn ask_common(&self, name: &str, query: &Query) -> Asked {
        if let Some(known) = self.asked.borrow().get(name) {
            return known.clone().unwrap_or_else(Asked::unclear);
        }
        self.asked.borrow_mut().insert(name.to_string(), None);
        let asked = self.ask(query).once();
        self.asked.borrow_mut().insert(name.to_string(), Some(asked.clone()));
        asked
    }

    fn body(&self, body: &SetExpr) -> Asked {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.ask(query),
            _ => Asked::unclear(),
        }
    }

    fn select(&self, select: &Select) -> Asked {
        let mut asked = self.sources(&select.from);
        asked.is_limited |= select.top.is_some();
        asked.is_grouped |= matches!(&select.group_by, GroupByExpr::Expressions(by, _) if !by.is_empty());
        asked.is_extreme |= select.projection.iter().filter_map(projected).any(is_extreme);
        asked.says.extend(select.selection.iter().flat_map(|e| conditions::all(e, self)));
        if select.having.is_some() || select.qualify.is_some() {
            asked.says.push(Says::Unclear);
        }
        asked
    }

    /// What the tables of a FROM say that are queries themselves.
    pub(super) fn sources(&self, from: &[TableWithJoins]) -> Asked {
        let mut all = Asked::default();
        for factor in from.iter().flat_map(factors) {
            let asked = match factor {
                TableFactor::Derived { subquery, .. } => self.ask(subquery),
                TableFactor::Table { name, sample, .. } => {
                    let name = names::snake(&name.to_string());
                    let mut asked = match self.ctes.get(&name) {
                        Some(query) => self.ask_common(&name, query),
                        None if name == names::snake(&self.table) => Asked::default(),
                        // Another table has its say.
                        None => Asked::unclear(),
                    };
                    asked.is_limited |= sample.is_some();
                    asked
                }
                _ => Asked::unclear(),
            };
            all.says.extend(asked.says);
            all.is_limited |= asked.is_limited;
            all.is_ordered |= asked.is_ordered;
            all.is_extreme |= asked.is_extreme;
            all.is_grouped |= asked.is_grouped;
        }
        all
    }
}

/// Whether the clause bounds anything: `LIMIT ALL` and `OFFSET 0` do not.
fn is_bounded(clause: &LimitClause) -> bool {
    match clause {
        LimitClause::LimitOffset { limit, offset, .. } => limit.is_some() || offset.is_some(),
        LimitClause::OffsetCommaLimit { .. } => true,
    }
}

/// The tables of a FROM, joined ones included.
pub(super) fn factors(from: &TableWithJoins) -> impl Iterator<Item = &TableFactor> {
    std::iter::once(&from.relation).chain(from.joins.iter().map(|j| &j.relation))
}

fn projected(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// `max(id)`, `max(id) - 1000`
fn is_extreme(expr: &Expr) -> bool {
    match expr {
        Expr::Function(f) => f.over.is_none() && matches!(names::snake(&f.name.to_string()).as_str(), "min" | "max"),
        Expr::BinaryOp { left, right, .. } => is_extreme(left) || is_extreme(right),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => is_extreme(inner),
        _ => false,
    }
}

/// The queries of a statement: its common tables by name, and the columns that number rows.
#[derive(Default)]
pub(super) struct Parts<'s> {
    pub(super) ctes: BTreeMap<String, &'s Query>,
    pub(super) ranks: BTreeMap<String, bool>,
    /// The DELETEs, in the order of the text.
    pub(super) deletes: Vec<&'s sqlparser::ast::Delete>,
}

impl<'s> Parts<'s> {
    pub(super) fn of(statement: &'s Statement) -> Self {
        let mut parts = Self::default();
        parts.statement(statement, 0);
        parts
    }

    fn statement(&mut self, statement: &'s Statement, depth: usize) {
        match statement {
            Statement::Delete(delete) => {
                self.deletes.push(delete);
                let (sqlparser::ast::FromTable::WithFromKeyword(from)
                | sqlparser::ast::FromTable::WithoutKeyword(from)) = &delete.from;
                self.from(from, depth);
                self.from(delete.using.as_deref().unwrap_or_default(), depth);
                if let Some(selection) = &delete.selection {
                    self.expr(selection, depth);
                }
            }
            Statement::Query(query) => self.query(query, depth),
            Statement::Insert(insert) => {
                if let Some(query) = &insert.source {
                    self.query(query, depth);
                }
            }
            _ => {}
        }
    }

    fn query(&mut self, query: &'s Query, depth: usize) {
        if depth >= MAX_QUERIES {
            return;
        }
        for cte in query.with.iter().flat_map(|w| &w.cte_tables) {
            self.ctes.insert(names::snake(&cte.alias.name.value), &cte.query);
            self.query(&cte.query, depth + 1);
        }
        self.body(&query.body, depth + 1);
    }

    fn body(&mut self, body: &'s SetExpr, depth: usize) {
        match body {
            SetExpr::Select(select) => {
                for item in &select.projection {
                    if let SelectItem::ExprWithAlias { expr: Expr::Function(function), alias } = item
                        && let Some(is_per_key) = rank(function)
                    {
                        self.ranks.insert(names::snake(&alias.value), is_per_key);
                    }
                }
                self.from(&select.from, depth);
                if let Some(selection) = &select.selection {
                    self.expr(selection, depth);
                }
            }
            SetExpr::Query(query) => self.query(query, depth),
            SetExpr::Insert(s) | SetExpr::Update(s) | SetExpr::Delete(s) | SetExpr::Merge(s) => {
                self.statement(s, depth)
            }
            _ => {}
        }
    }

    fn from(&mut self, from: &'s [TableWithJoins], depth: usize) {
        for factor in from.iter().flat_map(factors) {
            if let TableFactor::Derived { subquery, .. } = factor {
                self.query(subquery, depth + 1);
            }
        }
    }

    /// Queries in conditions: they may number rows.
    fn expr(&mut self, expr: &'s Expr, depth: usize) {
        for e in conditions::conjuncts(expr) {
            match e {
                Expr::In { target: sqlparser::ast::InTarget::Subquery(query), .. } => self.query(query, depth + 1),
                Expr::Exists { subquery, .. } => self.query(subquery, depth + 1),
                _ => {}
            }
        }
    }
}

/// Whether a function numbers rows, and if so whether those of one message.
fn rank(function: &Function) -> Option<bool> {
    let name = names::snake(&function.name.to_string());
    let over = function.over.as_ref()?;
    if !matches!(name.as_str(), "row_number" | "rank" | "dense_rank") {
        return None;
    }
    Some(match over {
        WindowType::WindowSpec(spec) => spec.partition_by.iter().filter_map(age::column).any(|c| names::is_key(&c)),
        WindowType::NamedWindow(_) => false,
    })
}
