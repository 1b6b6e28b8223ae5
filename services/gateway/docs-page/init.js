// @ts-nocheck: it runs in browsers, and the library has no types.
// The script of the reference page. Its search matches the path, the method, the summary and the id of operations.
const matches = (operation, phrase) => {
  const text = [
    operation.get("path"),
    operation.get("method"),
    operation.getIn(["operation", "summary"]),
    operation.getIn(["operation", "operationId"]),
  ].join(" ");
  return text.toLowerCase().includes(phrase.toLowerCase());
};

const searchOperations = () => ({
  fn: {
    opsFilter: (taggedOperations, phrase) =>
      taggedOperations
        .map((tag) =>
          tag.set(
            "operations",
            tag.get("operations").filter((one) => matches(one, phrase)),
          ),
        )
        .filter((tag) => tag.get("operations").size > 0),
  },
});

window.SwaggerUIBundle({
  url: "/openapi/stable.json",
  dom_id: "#reference",
  deepLinking: true,
  filter: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  validatorUrl: null,
  plugins: [searchOperations],
});
