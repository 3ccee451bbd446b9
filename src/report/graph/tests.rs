use std::sync::Arc;

use super::*;
use crate::model::{Component, ComponentIx, ComponentKind, Hop, HopIx, LayerIx, LayerUse, Mode, ModeSet, Reason};
use crate::report::text::Style;
use crate::testing::Draft;

const PLAIN: Style = Style { color: false, links: false, width: 100 };

/// gateway → orders → inventory, a job, a consumer behind a queue; names that every form must escape.
fn shop() -> Run {
    let mut draft = Draft::new();
    for name in ["Kong service orders", "backon call in `Orders::load` <\"&\\#;"] {
        draft.any_layer(name);
    }
    draft.path("inventory", Mode::Status(503), &[0, 1]);
    draft.model.paths[0].hops = vec![HopIx(0), HopIx(1)];
    for (name, kind) in [
        ("gateway", ComponentKind::Gateway),
        ("orders", ComponentKind::Service),
        ("inventory", ComponentKind::Host),
        ("night \"job\" <&\\>`;#", ComponentKind::Job),
        ("callers of mail", ComponentKind::Outside),
        ("mail", ComponentKind::Service),
        ("nobody's host", ComponentKind::Host),
    ] {
        draft.model.components.push(Component { name: name.to_owned(), kind, place: None });
    }
    let place = draft.model.layers[0].place;
    let hop = |from, to, layers: &[u32]| {
        let uses = layers.iter().map(|l| LayerUse { layer: LayerIx(*l), modes: ModeSet::statuses([503]) });
        Hop { layers: uses.collect(), ..Hop::new(ComponentIx(from), ComponentIx(to), None) }
    };
    let reasons =
        vec![Reason::new(place, "a route leads to `orders`"), Reason::new(None, "it is outside of the repository")];
    draft.model.hops = vec![
        Hop { reasons, ..hop(0, 1, &[0]) },
        Hop { per_item: true, ..hop(1, 2, &[1]) },
        hop(1, 2, &[]),
        Hop { on_request: false, ..hop(3, 1, &[]) },
        Hop { through: Some(Arc::from("queue orders")), ..hop(1, 5, &[]) },
        hop(4, 5, &[0, 1]),
    ];
    draft.run()
}

fn written(form: GraphForm) -> String {
    let mut bytes = Vec::new();
    write(&shop(), form, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn why(from: &str, to: &str) -> (String, bool) {
    let run = shop();
    let mut bytes = Vec::new();
    let holds = Why::new(&run, from, to).unwrap().write(&run, PLAIN, &mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), holds)
}

#[test]
fn every_form_of_a_graph() {
    insta::assert_snapshot!("dot", written(GraphForm::Dot));
    insta::assert_snapshot!("mermaid", written(GraphForm::Mermaid));
    insta::assert_snapshot!("svg", written(GraphForm::Svg));
    insta::assert_snapshot!("json", written(GraphForm::Json));
}

#[test]
fn a_graph_without_anything_is_one_all_the_same() {
    for form in [GraphForm::Dot, GraphForm::Mermaid, GraphForm::Svg, GraphForm::Json] {
        let mut bytes = Vec::new();
        write(&Draft::new().run(), form, &mut bytes).unwrap();
        assert!(!bytes.is_empty());
    }
}

#[test]
fn why_tells_each_hop_of_the_shortest_way() {
    let (text, holds) = why("Gateway", "inventory");
    assert!(holds);
    insta::assert_snapshot!("why", text);
}

#[test]
fn where_nothing_leads_it_says_so() {
    assert_eq!(why("inventory", "gateway"), ("Nothing leads from inventory to gateway.\n".to_owned(), false));
}

#[test]
fn a_name_that_nobody_bears_has_one_that_is_near() {
    let unknown = |name: &str| Why::new(&shop(), name, "orders").unwrap_err().to_string();
    assert_eq!(unknown("gatway"), "no component is called `gatway`; did you mean `gateway`?");
    assert!(unknown("something else").contains("there are gateway, orders, inventory"));
}
