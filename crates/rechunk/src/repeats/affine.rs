//! Affine transforms from the indices of a raster to coordinates, as numbers of JSON.

use serde_json::{Number, Value};

/// `x = a·column + b·row + c` and `y = d·column + e·row + f`: the six numbers in that order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Affine([Number; 6]);

impl Affine {
    /// The six numbers of a list; `None` if it is none of six.
    pub(super) fn of(value: &Value) -> Option<Self> {
        let numbers = value.as_array()?.iter().map(|value| value.as_number().cloned());
        Self::of_numbers(&numbers.collect::<Option<Vec<Number>>>()?)
    }

    /// Transform of these numbers; `None` if they are not six, or not finite.
    pub(super) fn of_numbers(numbers: &[Number]) -> Option<Self> {
        let numbers: [Number; 6] = <&[Number; 6]>::try_from(numbers).ok()?.clone();
        let is_finite = |number: &Number| number.as_f64().is_some_and(f64::is_finite);
        numbers.iter().all(is_finite).then_some(Self(numbers))
    }

    /// The transform of a raster that begins at this row and column of the one it is of.
    #[expect(
        clippy::many_single_char_names,
        reason = "as the formula of affine transforms has them"
    )]
    pub(super) fn moved(&self, row: u64, column: u64) -> Self {
        let [a, b, c, d, e, f] = &self.0;
        let (x, y) = (add(c, [(a, column), (b, row)]), add(f, [(d, column), (e, row)]));
        Self([a.clone(), b.clone(), x, d.clone(), e.clone(), y])
    }

    /// `[xmin, ymin, xmax, ymax]` of the corners of a raster of that many rows and columns.
    #[expect(
        clippy::many_single_char_names,
        reason = "as the formula of affine transforms has them"
    )]
    pub(super) fn bounds(&self, rows: u64, columns: u64) -> [f64; 4] {
        let [a, b, c, d, e, f] = self.0.each_ref().map(|number| number.as_f64().unwrap_or(0.0));
        let (rows, columns) = (rows as f64, columns as f64);
        let corners = [(0.0, 0.0), (rows, 0.0), (0.0, columns), (rows, columns)];
        let points =
            corners.map(|(row, column)| (a * column + b * row + c, d * column + e * row + f));
        points.iter().fold([f64::MAX, f64::MAX, f64::MIN, f64::MIN], |bounds, (x, y)| {
            [bounds[0].min(*x), bounds[1].min(*y), bounds[2].max(*x), bounds[3].max(*y)]
        })
    }

    /// The length of a step along rows or columns, the smaller one.
    pub(super) fn step(&self) -> f64 {
        let [a, b, _, d, e, _] = self.0.each_ref().map(|number| number.as_f64().unwrap_or(0.0));
        a.hypot(d).min(b.hypot(e))
    }

    /// The six numbers.
    pub(super) fn numbers(&self) -> &[Number; 6] {
        &self.0
    }

    /// As a list.
    pub(super) fn value(&self) -> Value {
        Value::Array(self.0.iter().cloned().map(Value::Number).collect())
    }
}

/// `number` and the products, in whole numbers where all of them are.
fn add(number: &Number, products: [(&Number, u64); 2]) -> Number {
    let whole = || {
        let mut sum = number.as_i64()?;
        for (factor, count) in products {
            let product = factor.as_i64()?.checked_mul(i64::try_from(count).ok()?)?;
            sum = sum.checked_add(product)?;
        }
        Some(Number::from(sum))
    };
    if products.iter().all(|(_, count)| *count == 0) {
        return number.clone();
    }
    whole()
        .or_else(|| {
            let product = |(factor, count): (&Number, u64)| Some(factor.as_f64()? * count as f64);
            let [first, second] = products;
            Number::from_f64(number.as_f64()? + product(first)? + product(second)?)
        })
        .unwrap_or_else(|| number.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_of_a_raster_begins_where_it_is() {
        for (before, after) in [
            (
                json!([10.0, 0.0, 500_000.0, 0.0, -10.0, 5_000_000.0]),
                json!([10.0, 0.0, 500_030.0, 0.0, -10.0, 4_999_980.0]),
            ),
            (json!([10, 0, 500, 0, -10, 900]), json!([10, 0, 530, 0, -10, 880])),
            (json!([1.0, 0.5, 0.0, 0.25, 2.0, 0.0]), json!([1.0, 0.5, 4.0, 0.25, 2.0, 4.75])),
        ] {
            let moved = Affine::of(&before).unwrap().moved(2, 3);
            assert_eq!(moved.value(), after);
        }
        let affine = Affine::of(&json!([10, 0, 500, 0, -10, 900])).unwrap();
        assert_eq!(
            affine.bounds(4, 2).map(f64::to_bits),
            [500.0, 860.0, 520.0, 900.0].map(f64::to_bits)
        );
        for wrong in
            [json!([1, 2, 3]), json!("1 2 3 4 5 6"), json!([1, 2, 3, 4, 5, null]), json!({})]
        {
            assert!(Affine::of(&wrong).is_none());
        }
    }
}
