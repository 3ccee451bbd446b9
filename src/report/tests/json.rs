use super::{shop, shop_with_gaps, written};
use crate::model::{Attempts, Component, ComponentIx, ComponentKind, Hop, LayerIx, LayerUse, ModeSet, Setting};
use crate::report::Json;

fn parsed(run: &crate::run::Run) -> serde_json::Value {
    serde_json::from_str(&written(&Json, run)).expect("JSON")
}

#[test]
fn a_path_through_three_files() {
    insta::assert_snapshot!(written(&Json, &shop_with_gaps()));
}

#[test]
fn an_empty_run_has_every_key() {
    insta::assert_snapshot!(written(&Json, &crate::run::Run::default()));
}

#[test]
fn columns_count_characters_and_bytes_do_not() {
    let mut draft = shop();
    let file = draft.model.layers[2].place.file;
    let place = draft.span(file, "다시 시도");
    draft.model.layers[2].place = place;
    let json = parsed(&draft.run());
    let location = &json["layers"][2]["location"];
    assert_eq!(location["line"], 2);
    assert_eq!(location["column"], 15);
    assert_eq!(location["end_column"], 20);
    assert_eq!(location["end_byte"].as_u64().unwrap() - location["start_byte"].as_u64().unwrap(), 13);
}

#[test]
fn unbounded_and_unknown_counts_are_null() {
    let mut draft = shop();
    let place = draft.model.layers[0].place;
    draft.model.layers[0].attempts = Setting::written(Attempts::Unbounded, place);
    draft.model.layers[1].attempts = Setting::unknown("comes from the argument `tries`", None);
    draft.model.paths[0].unbounded = true;
    draft.model.paths[0].at_least = true;
    draft.model.paths[0].sustained = f64::INFINITY;
    let json = parsed(&draft.run());
    let path = &json["paths"][0];
    assert!(path["product"].is_null() && path["sustained"].is_null(), "{path}");
    assert_eq!(path["unbounded"], true);
    assert_eq!(path["at_least"], true);
    assert!(path["layers"][0]["attempts"].is_null() && path["layers"][1]["attempts"].is_null());
    assert_eq!(path["layers"][0]["unbounded"], true);
    assert_eq!(json["layers"][1]["reason"], "comes from the argument `tries`");
}

#[test]
fn defaults_name_their_source_and_hops_their_ends() {
    let mut draft = shop();
    draft.model.layers[0].attempts = Setting::default(Attempts::Count(6), "Kong/kong services.lua");
    for name in ["gateway", "orders", "basket"] {
        let name = name.to_string();
        draft.model.components.push(Component { name, kind: ComponentKind::Service, place: None });
    }
    for to in [1, 2] {
        let layers = vec![LayerUse { layer: LayerIx(0), modes: ModeSet::all() }];
        draft.model.hops.push(Hop { layers, ..Hop::new(ComponentIx(0), ComponentIx(to), None) });
    }
    let json = parsed(&draft.run());
    let layer = &json["layers"][0];
    assert_eq!(layer["default"], true);
    assert_eq!(layer["source"], "Kong/kong services.lua");
    assert_eq!(layer["component"], "gateway");
    assert_eq!(layer["target"], "basket, orders");
    assert!(json["layers"][1]["component"].is_null());
}
