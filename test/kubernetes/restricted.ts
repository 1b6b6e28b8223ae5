/** The fields of a pod that the profile "restricted" of the Pod Security Standards requires. */
export const restrictedPod = {
  automountServiceAccountToken: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  },
};

/** The security context that the profile "restricted" requires of a container. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
};
