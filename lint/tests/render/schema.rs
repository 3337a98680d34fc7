//! Checks a JSON value against a schema of draft 7: the keywords that SARIF's schema uses. One that is not known here
//! stops the test, so nothing of a schema is passed over in silence.

use serde_json::Value;

/// Keywords that say nothing about a value.
const REMARKS: [&str; 7] = [
    "$schema",
    "$id",
    "title",
    "description",
    "default",
    "definitions",
    "format",
];

/// All violations, each with the path to it.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, schema, value, "", &mut found);
    found
}

fn visit(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(allowed) = schema.as_bool() {
        if !allowed {
            found.push(format!("{path}: nothing may stand here"));
        }
        return;
    }
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let mut wrong = |what: String| found.push(format!("{path}: {what}"));
        match keyword.as_str() {
            "$ref" => {
                let pointer = rule.as_str().expect("a reference").trim_start_matches('#');
                let target = root.pointer(pointer).expect("references resolve");
                visit(root, target, value, path, found);
            }
            "type" if !is_of_type(rule.as_str().expect("one type"), value) => {
                wrong(format!("{value} is no {rule}"));
            }
            "enum" if !rule.as_array().expect("a list").contains(value) => {
                wrong(format!("{value} is not among {rule}"));
            }
            "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                wrong(format!("{value} is below {rule}"));
            }
            "maximum" if value.as_f64() > rule.as_f64() => {
                wrong(format!("{value} is above {rule}"));
            }
            "minItems"
                if value
                    .as_array()
                    .is_some_and(|items| items.len() < count(rule)) =>
            {
                wrong(format!("fewer items than {rule}"));
            }
            "uniqueItems" if rule == true && has_copies(value) => {
                wrong("two items are equal".to_owned());
            }
            "pattern" if value.is_string() => {
                let text = value.as_str().expect("checked");
                assert_eq!(rule, "[^/]+/.+", "{path}: a pattern this test cannot judge");
                if !text
                    .split_once('/')
                    .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty())
                {
                    wrong(format!("{text} does not fit {rule}"));
                }
            }
            "required" if value.is_object() => {
                for name in rule
                    .as_array()
                    .expect("a list")
                    .iter()
                    .filter_map(Value::as_str)
                {
                    if value.get(name).is_none() {
                        wrong(format!("`{name}` is missing"));
                    }
                }
            }
            "anyOf" | "oneOf" => {
                let alternatives = rule.as_array().expect("a list").iter();
                let fitting = alternatives.filter(|one| {
                    let mut inner = Vec::new();
                    visit(root, one, value, path, &mut inner);
                    inner.is_empty()
                });
                let fitting = fitting.count();
                if fitting == 0 || keyword == "oneOf" && fitting > 1 {
                    wrong(format!("{fitting} alternatives fit"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    visit(root, rule, item, &format!("{path}/{index}"), found);
                }
            }
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = rule.get(name) {
                        visit(root, schema, inner, &format!("{path}/{name}"), found);
                    }
                }
            }
            "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(name).is_none() {
                        visit(root, rule, inner, &format!("{path}/{name}"), found);
                    }
                }
            }
            "type" | "enum" | "minimum" | "maximum" | "minItems" | "uniqueItems" | "pattern"
            | "required" => {}
            remark => assert!(
                REMARKS.contains(&remark),
                "a keyword nobody checks: {remark}"
            ),
        }
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type nobody knows: {other}"),
    }
}

fn count(rule: &Value) -> usize {
    usize::try_from(rule.as_u64().expect("a count")).expect("small")
}

fn has_copies(value: &Value) -> bool {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    items
        .iter()
        .enumerate()
        .any(|(index, item)| items[..index].contains(item))
}
