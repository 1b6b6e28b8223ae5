/** Returns a new row of the entity class `type`. A transaction inserts it when `save` or `commit` receives it. */
export const newRow = <Row extends object>(type: new () => Row, fields: NoInfer<Row>): Row =>
  Object.assign(new type(), fields);
