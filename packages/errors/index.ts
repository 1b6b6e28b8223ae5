export {
  AppError,
  badRequest,
  conflict,
  deadlineExceeded,
  type ErrorKind,
  errorKinds,
  type FieldError,
  forbidden,
  hasCode,
  invalid,
  isNotFound,
  isTransient,
  notFound,
  precondition,
  rateLimited,
  unauthenticated,
  unavailable,
} from "./app-error.ts";
export { Problems } from "./problems.ts";
export { asRefusal, type Refusal, refusalOf } from "./refusal.ts";
export { inWords, quoted } from "./words.ts";
