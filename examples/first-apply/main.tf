# A configuration for a first apply. It needs no provider and no account.
terraform {
  cloud {
    # TF_CLOUD_ORGANIZATION sets the organization.
    hostname = "statehouse.local"

    workspaces {
      name = "first-apply"
    }
  }
}

variable "greeting" {
  type    = string
  default = "Hello from Statehouse"
}

resource "terraform_data" "greeting" {
  input = var.greeting
}

output "greeting" {
  value = terraform_data.greeting.output
}

output "secret" {
  value     = "kept sealed"
  sensitive = true
}

output "ports" {
  value = [80, 443]
}
