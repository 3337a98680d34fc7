//! Checks a JSON value against a schema: the few keywords that `sarif.schema.json` uses. A property that the schema
//! does not name is an error, so a misspelt one cannot pass.

use serde_json::Value;

/// All violations, each with the path to it.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, schema, value, "", &mut found);
    found
}

fn visit(root: &Value, schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root
            .pointer(reference.trim_start_matches('#'))
            .expect("the schema's references resolve");
        return visit(root, target, value, path, found);
    }
    let mut wrong = |what: String| found.push(format!("{path}: {what}"));
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        wrong(format!("{value} is not allowed"));
    }
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        _ => schema["properties"].is_null() || value.is_object(),
    };
    if !fits {
        wrong(format!("{value} has the wrong type"));
    }
    if let Some(minimum) = schema["minimum"].as_i64()
        && value.as_i64().is_some_and(|number| number < minimum)
    {
        wrong(format!("{value} is below {minimum}"));
    }
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if value.get(name).is_none() {
            wrong(format!("`{name}` is missing"));
        }
    }
    if let (Some(properties), Some(object)) = (schema["properties"].as_object(), value.as_object())
    {
        for (name, inner) in object {
            match properties.get(name) {
                Some(schema) => visit(root, schema, inner, &format!("{path}/{name}"), found),
                None => found.push(format!("{path}: `{name}` is unknown")),
            }
        }
    }
    if !schema["items"].is_null() {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            visit(
                root,
                &schema["items"],
                item,
                &format!("{path}/{index}"),
                found,
            );
        }
    }
}
